"""Two runners of actions over one installation: each request runs once, and who falls out is replaced."""

from pathlib import Path

import pytest

from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation, Process
from tests.kafka.orders import Orders, ask, endings, request_of, results
from tests.services.kafka import KafkaBroker
from tests.services.redis import RedisServer
from tests.waiting import until

pytestmark = pytest.mark.service
LEASE = 6.0
"""Seconds; a try may take three quarters of them."""
SECONDS = 60.0
MANY = 20


def until_ended(installation: Installation, *requests: str) -> None:
    """Wait until every request has a result."""
    until(lambda: {one.request for one in results(installation)} == set(requests), SECONDS, "a request has not ended")


def test_each_request_runs_once(new_installation: NewInstallation, tmp_path: Path) -> None:
    """Both see every request at the same time: each order is given once, each wish to a trainer is one version."""
    orders = Orders(tmp_path / "orders")
    installation = new_installation(2, TRAINMASTER_LEASE=str(LEASE), **orders.setting)
    runners = installation.start_together("act", "act")
    stops = [request_of(number) for number in range(MANY)]
    wishes = [request_of(number, "loader.use_cache") for number in range(MANY, 2 * MANY)]
    ask(installation, *stops, *wishes)
    until_ended(installation, *(f"r-{number}" for number in range(2 * MANY)))
    until(lambda: sum(one.metric("trainmaster_serving") for one in runners) == 0, SECONDS, "a runner is still at work")
    assert sorted(job for _, job in orders.given()) == sorted(request.job for _, request in stops)
    assert {one.outcome for one in results(installation)} == {"done"}
    assert {job for job, _ in installation.said("control")} == {request.job for _, request in wishes}
    assert all(b'"version":1' in raw for _, raw in installation.said("control"))
    assert endings(installation) == sorted(("action.done", f"r-{number}") for number in range(2 * MANY))


def test_a_killed_runner_is_replaced(new_installation: NewInstallation, tmp_path: Path) -> None:
    """A runner dies in the middle of an action: after its lease the other one begins anew, and ends it."""
    orders = Orders(tmp_path / "orders")
    orders.hold(0)
    installation = new_installation(2, TRAINMASTER_LEASE=str(LEASE), **orders.setting)
    runners = installation.start_together("act", "act")
    ask(installation, request_of(0))
    until(orders.given, SECONDS, "no order was given")
    dead = orders.giver(0, runners)
    dead.kill()
    until_ended(installation, "r-0")
    orders.let_go(0)
    assert [job for _, job in orders.given()] == ["job-0", "job-0"]
    assert orders.giver(1, runners) is not dead
    dead.start()
    ask(installation, request_of(1))
    until_ended(installation, "r-0", "r-1")
    assert [job for _, job in orders.given()][2:] == ["job-1"]
    assert {one.outcome for one in results(installation)} == {"done"}


def test_a_frozen_runner_is_fenced_off(new_installation: NewInstallation, tmp_path: Path) -> None:
    """A runner sleeps past its lease and wakes while its successor works: what it has to say is not heard."""
    orders = Orders(tmp_path / "orders")
    orders.hold(0)
    orders.hold(1)
    installation = new_installation(2, TRAINMASTER_LEASE=str(LEASE), **orders.setting)
    runners = installation.start_together("act", "act")
    ask(installation, request_of(0))
    until(orders.given, SECONDS, "no order was given")
    frozen = orders.giver(0, runners)
    frozen.freeze()
    until(lambda: len(orders.given()) == 2, SECONDS, "the other runner did not take over")
    frozen.thaw()
    until(frozen.lives, SECONDS, "the runner did not wake up")
    assert results(installation) == []
    orders.let_go(1)
    until_ended(installation, "r-0")
    until(lambda: sum(one.metric("trainmaster_serving") for one in runners) == 0, SECONDS, "a runner is still at work")
    orders.let_go(0)
    assert {(one.request, one.outcome) for one in results(installation)} == {("r-0", "done")}
    assert endings(installation) == [("action.done", "r-0")]
    assert len(orders.given()) == 2


def test_runners_wait_for_redis_and_for_kafka(own_redis: RedisServer, own_kafka: KafkaBroker, tmp_path: Path) -> None:
    """Each goes away in the middle of an action: no runner ends, both say so, and nothing is done twice."""
    orders = Orders(tmp_path / "orders")
    orders.hold(0)
    orders.hold(1)
    address = own_kafka.bootstrap
    installation = Installation("waiting", address, own_redis.url, tmp_path / "installation", 2, **orders.setting)
    runners = installation.start_together("act", "act")
    ask(installation, request_of(0))
    until(orders.given, SECONDS, "no order was given")
    own_redis.process.kill()
    orders.let_go(0)
    until(lambda: all(lacks(one, "Redis") for one in runners), SECONDS, "somebody is ready without Redis")
    own_redis.start()
    until_ended(installation, "r-0")

    ask(installation, request_of(1))
    until(lambda: len(orders.given()) == 2, SECONDS, "no order was given")
    own_kafka.process.kill()
    orders.let_go(1)
    until(lambda: all(lacks(one, "Kafka") for one in runners), SECONDS, "somebody is ready without Kafka")
    own_kafka.start()
    until_ended(installation, "r-0", "r-1")
    assert [job for _, job in orders.given()] == ["job-0", "job-1"]
    assert {one.outcome for one in results(installation)} == {"done"}
    assert not any(one.has_ended() for one in runners)
    installation.close()


def lacks(runner: Process, server: str) -> bool:
    """Whether a runner says that a server does not answer."""
    return any(server in fault for fault in runner.faults())
