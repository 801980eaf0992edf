"""The runner when things fail: retries, dead sinks, held targets, faults of an action, and orderly waiting."""

import asyncio
import threading
from collections.abc import Callable
from typing import ClassVar

import pytest
from msgspec import structs

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.catalogue import ACTIONS
from playbooks.ports import Ports
from playbooks.retry import Ending, Finished, Refused, Retry, Schedule
from schemas.action import Request
from schemas.incident import Incident
from streams.acting.settings import ActSettings
from tests.actions.samples import a_request, an_incident
from tests.actions.world import World
from tests.fakes import DyingClock, FakeClock, FakeScheduler, FakeSinks, Killed

NewWorld = Callable[..., World]
BUSY = Retry("HTTP 503")


def test_a_fault_that_passes_is_waited_for(new_world: NewWorld) -> None:
    """Two failures and a success: three tries, growing waits, one result."""
    world = new_world(scheduler=FakeScheduler(ConnectionError("no controller"), ConnectionError("no controller")))
    world.say(a_request("job.stop"))
    world.act()
    assert (world.result("r-job.stop").outcome, world.result("r-job.stop").tries) == ("done", 3)
    assert world.fakes.clock.waits == [1.0, 3.0]
    assert len(world.events()) == 1


def test_a_fault_that_stays_is_given_up(new_world: NewWorld) -> None:
    """After the last try of its schedule the request has failed, with the reason, and is never tried again."""
    world = new_world(scheduler=FakeScheduler(*[ConnectionError("no controller")] * 20))
    world.say(a_request("job.stop"))
    world.act()
    world.act()
    result = world.result("r-job.stop")
    assert (result.outcome, result.tries) == ("failed", 6)
    assert result.detail == "no controller; gave up after 6 tries"
    assert world.leases.finished("r-job.stop") == f"failed: {result.detail}"
    assert len(world.fakes.scheduler.orders) == 6


class ChangingClock(FakeClock):
    """A clock during whose first wait something happens."""

    def __init__(self, happens: Callable[[], None]) -> None:
        super().__init__()
        self._happens: list[Callable[[], None]] = [happens]

    async def sleep(self, seconds: float) -> None:
        """Wait, and let it happen."""
        await super().sleep(seconds)
        if self._happens:
            self._happens.pop()()


MEANWHILE: dict[str, tuple[Callable[[World], None], str]] = {
    "the incident ends": (lambda world: world.say(an_incident(revision=3, state="resolved")), "resolved"),
    "the switch is turned on": (lambda world: world.leases.stop("night shift", 1.0), "night shift"),
    "the job starts anew": (lambda world: world.say(an_incident(revision=3, attempt=2)), "attempt 2"),
}


@pytest.mark.parametrize(("happens", "words"), MEANWHILE.values(), ids=MEANWHILE)
def test_every_try_looks_again(new_world: NewWorld, happens: Callable[[World], None], words: str) -> None:
    """What changes between two tries is heeded before the second."""
    world = new_world(scheduler=FakeScheduler(ConnectionError("no controller")))
    world = new_world(scheduler=world.fakes.scheduler, clock=ChangingClock(lambda: happens(world)))
    world.say(a_request("job.stop"))
    world.act()
    assert world.result("r-job.stop").outcome == "refused"
    assert words in world.result("r-job.stop").detail
    assert len(world.fakes.scheduler.orders) == 1


def test_a_server_that_asks_for_time_gets_it(new_world: NewWorld) -> None:
    """The wait is as long as the other side asked."""
    world = new_world(sinks=FakeSinks({"chat": "slack"}, {"chat": [Retry("HTTP 429", 77.0)]}))
    world.say(a_request("notify"))
    world.act()
    assert world.fakes.clock.waits == [77.0]
    assert world.fakes.sinks.to("chat") == ["opened", "opened"]


def test_a_dead_sink_repeats_nothing_elsewhere(new_world: NewWorld) -> None:
    """The pager is told once although the chat is dead to the end; the result tells both."""
    world = new_world(sinks=FakeSinks({"chat": "slack", "pager": "pagerduty"}, {"chat": [BUSY] * 99}))
    world.say(a_request("notify"))
    world.act()
    assert world.fakes.sinks.to("pager") == ["opened"]
    result = world.result("r-notify")
    assert (result.outcome, result.tries) == ("failed", 12)
    assert "pager: done, told as opened" in result.detail
    assert "chat: failed, HTTP 503; gave up after 12 tries" in result.detail


def die(world: World) -> None:
    """Run until the process dies."""
    with pytest.raises(BaseExceptionGroup) as fault:
        world.act()
    assert fault.group_contains(Killed)


@pytest.mark.parametrize("waits", [0, 1, 5])
def test_a_restart_repeats_no_message(new_world: NewWorld, waits: int) -> None:
    """A runner that dies while it waits for the chat leaves the delivered page delivered; the next one goes on."""
    sinks = FakeSinks({"chat": "slack", "pager": "pagerduty"}, {"chat": [BUSY] * (waits + 1)})
    world = new_world(sinks=sinks, clock=DyingClock(waits))
    world.say(a_request("notify"))
    die(world)
    assert world.archive.result("r-notify") is None
    world = new_world(sinks=sinks)
    world.act()
    assert sinks.to("pager") == ["opened"]
    assert sinks.to("chat") == ["opened"] * (waits + 2)
    assert world.result("r-notify").outcome == "done"
    assert len(world.events()) == 1


MESSAGES: dict[str, tuple[tuple[Request, Incident, Request], list[str]]] = {
    "twice the same": (
        (a_request("notify", id="r1"), an_incident(revision=3), a_request("notify", id="r2")),
        ["opened"],
    ),
    "graver": (
        (a_request("notify", id="r1"), an_incident(revision=3, severity="critical"), a_request("notify", id="r2")),
        ["opened", "changed"],
    ),
    "over": (
        (a_request("notify", id="r1"), an_incident(revision=3, state="resolved"), a_request("notify", id="r2")),
        ["opened", "resolved"],
    ),
}


@pytest.mark.parametrize(("course", "kinds"), MESSAGES.values(), ids=MESSAGES)
def test_one_message_for_each_turn(
    new_world: NewWorld, course: tuple[Request, Incident, Request], kinds: list[str]
) -> None:
    """Whoever asks, there is one message for each incident, kind and severity."""
    world = new_world(sinks=FakeSinks({"chat": "slack"}))
    for record in course:
        world.say(record)
        world.act()
    assert world.fakes.sinks.to("chat") == kinds
    assert {world.result(name).outcome for name in ("r1", "r2")} == {"done"}


def test_two_requests_at_once_send_one_message(new_world: NewWorld) -> None:
    """Two playbooks that want to tell the same at the same moment do it once."""
    world = new_world(sinks=FakeSinks({"chat": "slack"}))
    world.say(a_request("notify", id="r1"), a_request("notify", id="r2"))
    world.act()
    assert world.fakes.sinks.to("chat") == ["opened"]


def test_a_message_that_never_arrived_may_be_sent_again(new_world: NewWorld) -> None:
    """Only what arrived counts as told: after a failure the next request tries anew."""
    world = new_world(sinks=FakeSinks({"chat": "slack"}, {"chat": [Refused("HTTP 400")]}))
    world.say(a_request("notify", id="r1"))
    world.act()
    assert world.result("r1").outcome == "refused"
    world.say(a_request("notify", id="r2"))
    world.act()
    assert world.result("r2").outcome == "done"


def test_a_held_target_is_waited_for(world: World) -> None:
    """While somebody else acts on the job nothing is ordered; when the lease has run out, it is."""
    clock = world.fakes.clock
    assert world.leases.acquire("wm-64", "somebody else", clock.now(), 10.0)
    world.say(a_request("job.stop"))
    world.act()
    assert world.result("r-job.stop").outcome == "done"
    assert sum(clock.waits) >= 10.0
    assert len(world.fakes.scheduler.orders) == 1


def test_a_target_in_other_hands_is_left_alone(world: World) -> None:
    """A target that stays held leads to a refusal: nothing was begun, so nothing has failed."""
    lease = world.leases.acquire("wm-64", "somebody else", world.fakes.clock.now(), 1e6)
    assert lease
    world.say(a_request("job.stop"))
    world.act()
    assert world.fakes.scheduler.orders == []
    assert world.result("r-job.stop").outcome == "refused"
    assert "wm-64 is in other hands" in world.result("r-job.stop").detail
    assert world.leases.begin("something of theirs", lease)


def test_a_target_is_given_back(world: World) -> None:
    """After the end of a request, well or not, anybody may act on the target."""
    world.say(a_request("job.stop"), a_request("job.restart"), a_request("node.cordon"))
    world.act()
    assert world.leases.acquire("wm-64", "somebody else", world.fakes.clock.now(), 1.0)


class Probe:
    """An action that does what a test wants, and notes who was at work together."""

    name = "probe"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "job"
    after_the_end = False
    at_work: ClassVar[list[str]] = []

    def __init__(self, does: Callable[[Request], Ending] = lambda _: Finished("done"), seconds: float = 0.0) -> None:
        self._does = does
        self._seconds = seconds
        self._now: set[str] = set()
        self.together: list[frozenset[str]] = []
        self.order: list[str] = []

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Work for a while."""
        self._now.add(request.id)
        self.together.append(frozenset(self._now))
        self.order.append(request.id)
        try:
            await asyncio.sleep(self._seconds)
            return self._does(request)
        finally:
            self._now.remove(request.id)


class Telling(Probe):
    """The same, without a risk."""

    risk: Risk = "none"


def test_a_fault_of_an_action_stops_nobody_else(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """An action that raises has failed; what it raised is named without its words, which may hold a secret."""

    def broken(_: Request) -> Ending:
        raise RuntimeError("https://hooks.example/secret")

    world.say(a_request("probe"), a_request("job.stop"))
    world.act(actions={**ACTIONS, "probe": Probe(broken)})
    result = world.result("r-probe")
    assert result.outcome == "failed"
    assert "RuntimeError in " in result.detail
    assert "broken" in result.detail
    assert "secret" not in result.detail + caplog.text
    assert world.result("r-job.stop").outcome == "done"


LONG = ActSettings(
    try_seconds=0.05, lease_seconds=1.0, tell=Schedule(tries=2, seconds=100.0), act=Schedule(tries=2, seconds=100.0)
)


def test_a_try_that_takes_too_long_is_cut_off(world: World) -> None:
    """What may have been done already is not repeated; what harms nothing is."""
    acting, telling = Probe(seconds=60.0), Telling(seconds=60.0)
    world.say(a_request("probe"), a_request("telling"))
    world.act(actions={"probe": acting, "telling": telling}, settings=LONG)
    assert (world.result("r-probe").outcome, world.result("r-probe").tries) == ("failed", 1)
    assert "may have been done" in world.result("r-probe").detail
    assert (world.result("r-telling").outcome, world.result("r-telling").tries) == ("failed", 2)


def test_requests_on_one_target_follow_one_another(world: World) -> None:
    """On one job one thing is done at a time, in the order of the decisions; other jobs do not wait."""
    probe = Probe(seconds=0.02)
    world.say(*(a_request("probe", id=f"a{n}", target="wm-64") for n in range(3)))
    world.say(*(a_request("probe", id=f"b{n}", target=f"other-{n}") for n in range(3)))
    world.act(actions={"probe": probe})
    assert [name for name in probe.order if name.startswith("a")] == ["a0", "a1", "a2"]
    assert all(len([name for name in group if name.startswith("a")]) <= 1 for group in probe.together)
    assert max(len(group) for group in probe.together) == 4


def test_only_so_many_tries_run_at_once(world: World) -> None:
    """However many requests there are, the number of tries at one time is bounded."""
    probe = Probe(seconds=0.01)
    world.say(*(a_request("probe", id=f"r{n}", target=f"job-{n}") for n in range(12)))
    world.act(actions={"probe": probe}, settings=structs.replace(ActSettings(), at_once=3))
    assert max(len(group) for group in probe.together) == 3
    assert len(probe.order) == 12


def test_a_lease_outlives_any_try() -> None:
    """Settings under which a lease could run out while its holder acts are refused."""
    with pytest.raises(ValueError, match="lease_seconds"):
        ActSettings(try_seconds=60.0, lease_seconds=60.0)


def test_a_runner_wakes_up(world: World) -> None:
    """A running runner takes up a request as soon as it is woken, from whichever thread, and ends when cancelled."""
    told = threading.Event()

    async def live() -> int:
        runner = world.runner(settings=ActSettings(poll_seconds=1000.0), wake_line=told.set)
        task = asyncio.create_task(runner.run())
        await asyncio.sleep(0)
        world.say(a_request("job.stop"))
        threading.Thread(target=runner.wake).start()
        async with asyncio.timeout(10.0):
            await asyncio.to_thread(told.wait, 10.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return runner.position

    assert asyncio.run(live()) == world.archive.last() - 1
    assert world.result("r-job.stop").outcome == "done"


class HeldClock(FakeClock):
    """A clock on which a wait lasts until the test lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = asyncio.Event()
        self.let_go = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait until let go."""
        self.waiting.set()
        await self.let_go.wait()
        await super().sleep(seconds)


def test_the_position_stays_before_what_has_not_ended(new_world: NewWorld) -> None:
    """A later runner that begins after the position finds every request that has not ended."""
    world = new_world(clock=HeldClock(), sinks=FakeSinks({"chat": "slack"}, {"chat": [BUSY]}))
    world.say(a_request("job.stop"))
    ended = world.archive.last()
    world.say(a_request("notify"), a_request("job.restart"))

    async def live() -> tuple[int, int]:
        runner, clock = world.runner(), world.fakes.clock
        assert isinstance(clock, HeldClock)
        serving = asyncio.create_task(runner.drain())
        async with asyncio.timeout(10.0):
            await clock.waiting.wait()
            while world.archive.result("r-job.restart") is None or runner.position < ended:
                await asyncio.sleep(0)
        before = runner.position
        clock.let_go.set()
        await serving
        return before, runner.position

    assert asyncio.run(live()) == (ended, ended + 2)
    assert world.archive.last() == ended + 5
