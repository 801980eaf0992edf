"""Workers killed, a broker restarted or frozen, Redis killed: in the end it is as if nothing had been."""

import itertools
from pathlib import Path

import pytest

from streams.agents.simulated import simulate
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import DELIVER, Installation, jobs_of_all_partitions
from tests.kafka.telling import Bodies, Said, on_kafka, through_embedded, without_repetitions
from tests.services.kafka import KafkaBroker
from tests.services.redis import RedisServer
from tests.waiting import until

pytestmark = pytest.mark.service
KILLS = 20
PARTITIONS = 4
PER_MESSAGE = 20
SECONDS = 60.0


@pytest.fixture(scope="module")
def bodies() -> Bodies:
    """A storage fault in four jobs, one in each partition, in messages of 20 that come in turn.

    Each job has a cluster of its own: what a shared one says depends on whom it hears first.
    """
    lines = [line.strip() for line in simulate("storage", 5, defects=True)]
    jobs = jobs_of_all_partitions(PARTITIONS)
    found: Bodies = []
    for at in range(0, len(lines), PER_MESSAGE):
        body = b"\n".join(lines[at : at + PER_MESSAGE])
        found += [(job, _of(job, body)) for job in jobs]
    return found


def _of(job: str, body: bytes) -> bytes:
    ours = body.replace(b'"job":"sim-16"', f'"job":"{job}"'.encode())
    return ours.replace(b'"cluster":"default"', f'"cluster":"cluster-of-{job}"'.encode())


@pytest.fixture(scope="module")
def undisturbed(bodies: Bodies) -> Said:
    """What an undisturbed run says."""
    said = through_embedded(bodies)
    assert len([key for key in said if key[0] == "incidents"]) == PARTITIONS
    return said


def test_a_worker_killed_at_twenty_moments(
    new_installation: NewInstallation, bodies: Bodies, undisturbed: Said
) -> None:
    """Two workers, one of them killed at twenty moments of the incident: none lost, none doubled, the same bytes."""
    installation = new_installation(PARTITIONS)
    workers = [installation.start("worker"), installation.start("worker")]
    for number, part in enumerate(parts(bodies, KILLS + 2)):
        installation.send(part)
        if 0 < number <= KILLS:
            victim = workers[number % 2]
            victim.kill()
            victim.start()
    installation.until_done()
    assert without_repetitions(on_kafka(installation)) == undisturbed


def test_a_broker_that_is_restarted(
    own_kafka: KafkaBroker, redis_url: str, tmp_path: Path, bodies: Bodies, undisturbed: Said
) -> None:
    """The broker stops and starts again with its data: the same bytes, and readiness told the truth meanwhile."""
    installation = Installation("restarted", own_kafka.bootstrap, redis_url, tmp_path / "installation", PARTITIONS)
    workers = [installation.start("worker"), installation.start("worker")]
    first, second = parts(bodies, 2)
    installation.send(first)
    own_kafka.process.stop()
    until(lambda: not any(one.ready() for one in workers), SECONDS, "somebody is ready without a broker")
    own_kafka.start()
    finish(installation, second)
    assert without_repetitions(on_kafka(installation)) == undisturbed
    installation.close()


def test_a_broker_that_is_frozen_past_the_time_out_of_producers(
    own_kafka: KafkaBroker, redis_url: str, tmp_path: Path, bodies: Bodies, undisturbed: Said
) -> None:
    """The broker answers nothing until workers give up and end: started again, they go on, and nothing is missing."""
    installation = Installation(
        "frozen", own_kafka.bootstrap, redis_url, tmp_path / "installation", PARTITIONS, TRAINMASTER_TICK="1"
    )
    workers = [installation.start("worker"), installation.start("worker")]
    first, second = parts(bodies, 2)
    installation.send(first)
    own_kafka.process.freeze()
    until(lambda: not any(one.ready() for one in workers), SECONDS, "somebody is ready with a frozen broker")
    until(lambda: all(one.has_ended() for one in workers), 5 * DELIVER, "a worker has not noticed the time-out")
    own_kafka.process.thaw()
    finish(installation, second)
    assert final_incidents(on_kafka(installation)) == final_incidents(undisturbed)
    installation.close()


def test_a_redis_that_is_killed(
    own_redis: RedisServer, kafka_bootstrap: str, tmp_path: Path, bodies: Bodies, undisturbed: Said
) -> None:
    """Redis dies and comes back: the work goes on meanwhile, readiness says what is missing, and nothing is."""
    installation = Installation("no-redis", kafka_bootstrap, own_redis.url, tmp_path / "installation", PARTITIONS)
    workers = [installation.start("worker"), installation.start("worker")]
    first, second, third = parts(bodies, 3)
    installation.send(first)
    installation.until_done()
    own_redis.process.kill()
    until(lambda: not any(one.ready() for one in workers), SECONDS, "somebody is ready without Redis")
    assert any("Redis" in fault for fault in workers[0].faults())
    installation.send(second)
    installation.until_done()
    own_redis.start()
    workers[0].kill()
    finish(installation, third)
    assert without_repetitions(on_kafka(installation)) == undisturbed
    installation.close()


def finish(installation: Installation, rest: Bodies) -> None:
    """Start the workers that have ended, as a supervisor would, send the rest, and wait until all is done."""
    installation.until_ready()
    installation.send(rest)
    installation.until_done()


def parts(bodies: Bodies, number: int) -> list[Bodies]:
    """Cut messages into so many parts of about the same length."""
    edges = [len(bodies) * one // number for one in range(number + 1)]
    return [bodies[begin:end] for begin, end in itertools.pairwise(edges)]


def final_incidents(said: Said) -> dict[str, bytes]:
    """The last word on every incident."""
    return {key: values[-1] for (stream, key), values in said.items() if stream == "incidents"}
