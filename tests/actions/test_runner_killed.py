"""A runner that is killed with SIGKILL at any step: the next one finds what is left to do, and nothing is lost."""

import asyncio
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playbooks.retry import Delivery, Refused, Retry
from schemas.action import Request
from streams.acting.footing import Alone
from streams.acting.runner import Runner
from streams.clock import monotonic_seconds
from streams.ports.real_ports import real_ports
from tests.actions import runner_to_kill
from tests.actions.samples import a_request, an_incident
from tests.actions.world import World
from tests.fakes import DyingClock, FakeHttp, FakeSinks, Killed

DEADLINE = 30.0

PLACES: dict[str, int] = {"in the action": 2, "before the event": 1, "before the result": 1}
"""Where the runner is killed, and how often the scheduler has been ordered in the end: only what was cut off again."""


def kill_at(folder: Path, place: str) -> None:
    """Start a runner, kill it when it has reached a place."""
    reached = folder / ("orders" if place == "in the action" else "reached")
    process = subprocess.Popen([sys.executable, runner_to_kill.__file__, str(folder), place])
    try:
        deadline = monotonic_seconds() + DEADLINE
        while not (reached.exists() and (place != "in the action" or reached.stat().st_size)):
            assert process.poll() is None, "the runner ended by itself"
            assert monotonic_seconds() < deadline, "the runner never came that far"
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(("place", "orders"), PLACES.items(), ids=PLACES)
def test_a_killed_runner_loses_nothing(tmp_path: Path, place: str, orders: int) -> None:
    """Killed between any two steps, the request has one result in the end, and what had ended is not repeated."""
    world = World(tmp_path / "trainmaster.db")
    world.say(an_incident(), a_request("job.stop"))
    kill_at(tmp_path, place)
    assert world.archive.result("r-job.stop") is None
    assert (world.leases.finished("r-job.stop") is None) == (place == "in the action")
    scheduler = {"stop": runner_to_kill.stop_command(tmp_path, 0.0)}
    ports = real_ports(world.archive, FakeHttp(), documents=tmp_path, sinks={}, scheduler=scheduler)
    asyncio.run(Runner(world.archive, world.leases, world.journal, world.numbers, Alone(ports)).drain())
    assert (tmp_path / "orders").read_text().count("ordered") == orders
    assert world.result("r-job.stop").outcome == "done"
    events = world.events()
    assert {(event.event, event.subject) for event in events} == {("action.done", "r-job.stop")}
    assert len(events) == (2 if place == "before the result" else 1)
    assert len(world.archive.feed(0, 100, ("results",))) == 1
    world.close()


def act_or_die(world: World) -> None:
    """Run until all has ended or the process dies; anything else than death is a fault."""
    try:
        world.act()
    except BaseExceptionGroup as fault:
        others = fault.split(Killed)[1]
        if others is not None:
            raise others from None


ANSWERS: st.SearchStrategy[Delivery] = st.sampled_from([Retry("HTTP 503"), Retry("HTTP 503"), Refused("HTTP 400")])


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Request], dict[str, list[Delivery]], list[int]]:
    """Requests, scripts of what goes wrong at each sink, and after how many waits each runner dies."""
    names = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
    requests = [a_request("notify", id=name) for name in names]
    scripts = {sink: draw(st.lists(ANSWERS, max_size=6)) for sink in ("chat", "pager")}
    return requests, scripts, draw(st.lists(st.integers(0, 4), max_size=4))


@given(history=histories())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_course_of_deaths_ends_alike(
    history: tuple[list[Request], dict[str, list[Delivery]], list[int]],
) -> None:
    """However often runners die, each request ends with one result, and no message arrives twice at a sink."""
    requests, scripts, deaths = history
    sinks = FakeSinks({"chat": "slack", "pager": "pagerduty"}, scripts)
    wrong = {name: len(script) for name, script in scripts.items()}
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "trainmaster.db", sinks=sinks)
        world.say(an_incident(), *requests)
        for waits in deaths:
            dying = World(Path(folder) / "trainmaster.db", sinks=sinks, clock=DyingClock(waits))
            act_or_die(dying)
            dying.close()
        world.act()
        results = [world.result(request.id) for request in requests]
        world.close()
    assert {result.outcome for result in results} <= {"done", "refused"}
    for name in ("chat", "pager"):
        unanswered = len(sinks.scripts.get(name, []))
        assert len(sinks.to(name)) <= wrong[name] - unanswered + 1
