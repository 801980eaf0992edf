"""Several runners on one set of stores: who lost its target, or waits for it, has no say in how the work ends."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import structs
from pydantic import SecretStr

from playbooks.actions.action import NoParams, Risk
from playbooks.ports import Ports
from playbooks.retry import Ending, Finished
from schemas.action import Request
from streams.acting.runner import Runner
from streams.acting.settings import ActSettings
from streams.ports.redis_trainer import RedisTrainer
from streams.settings import RedisSettings
from streams.stores.archive import SqliteArchive
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.redis_client import connect
from streams.stores.redis_controls import RedisControls
from streams.stores.redis_leases import RedisLeases
from streams.stores.store import Lease, StoreAway
from tests.actions.samples import a_request
from tests.actions.world import World
from tests.fakes import FakeClock, FakeScheduler

NewWorld = Callable[..., World]
LEASE = 60.0
WORK = "r-job.stop"


class Wish:
    """An action that speaks to the trainer after a pause; the first run's pause lasts until it is woken."""

    name = "wish"
    params = NoParams
    reversible = True
    undo = ""
    risk: Risk = "job"
    after_the_end = False

    def __init__(self) -> None:
        self.runs_begun = 0
        self.begun, self.woken = asyncio.Event(), asyncio.Event()

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Pause, and speak."""
        self.runs_begun += 1
        number = self.runs_begun
        if number == 1:
            self.begun.set()
            await self.woken.wait()
        await ports.trainer.set(request.job, request.attempt, {"wished by run": number}, request.id)
        return Finished(f"wished by run {number}")


class OnRedis:
    """The footing of runners among others."""

    def __init__(self, ports: Ports, controls: RedisControls, archive: SqliteArchive) -> None:
        self.ports, self.controls, self.archive = ports, controls, archive

    def under(self, lease: Lease) -> Ports:
        """Speak to trainers under the lease."""
        return structs.replace(self.ports, trainer=RedisTrainer(self.controls, self.archive, lease))

    def unfit(self) -> str:
        """All is well."""
        return ""


@pytest.fixture
def shared(redis_url: str, tmp_path: Path) -> Iterator[tuple[RedisLeases, RedisControls]]:
    """Leases and control documents of the test's own."""
    client = connect(RedisSettings(url=SecretStr(redis_url)))
    yield RedisLeases(client, str(tmp_path)), RedisControls(client, str(tmp_path))
    client.close()


@pytest.mark.service
def test_a_runner_that_slept_past_its_lease_writes_nothing(
    world: World, shared: tuple[RedisLeases, RedisControls]
) -> None:
    """It wakes after its successor has acted: neither the trainer nor the result hears of it."""
    leases, controls = shared
    footing, clock = OnRedis(world.ports, controls, world.archive), world.fakes.clock
    world.say(a_request("wish"))

    async def live() -> None:
        wish = Wish()
        one, two = (
            Runner(
                world.archive,
                leases,
                world.journal,
                world.numbers,
                footing,
                ActSettings(holder=holder, lease_seconds=LEASE),
                actions={"wish": wish},
            )
            for holder in ("one", "two")
        )
        slept = asyncio.create_task(one.drain())
        await wish.begun.wait()
        clock.time += LEASE
        await two.drain()
        wish.woken.set()
        await slept
        assert wish.runs_begun == 2

    asyncio.run(live())
    assert world.wishes() == {"wished by run": 2}
    assert [one.version for one in [controls.read("wm-64")] if one is not None] == [1]
    assert world.result("r-wish").detail == "wished by run 2"
    assert len(world.events()) == 1


class Elsewhere(FakeClock):
    """A clock during whose waits another runner takes the target, and later ends the same work."""

    def __init__(self, takes: int, ends: int) -> None:
        super().__init__()
        self.world: World
        self._takes, self._ends = takes, ends

    async def sleep(self, seconds: float) -> None:
        """Wait, and let it happen."""
        await super().sleep(seconds)
        if len(self.waits) == self._takes:
            self.take()
        if len(self.waits) == self._ends:
            self.end()

    def take(self) -> None:
        """Begin."""
        lease = self.world.leases.acquire("wm-64", f"other/{WORK}", self.now(), 1e6)
        assert lease
        assert self.world.leases.begin(WORK, lease)
        self._lease = lease

    def end(self) -> None:
        """End; nobody else has."""
        assert self.world.leases.finished(WORK) is None
        self.world.leases.finish_under(WORK, "done: by the other", self._lease)
        self.world.leases.release(self._lease)


@pytest.mark.parametrize("waits", [1, 50, 302, 310])
def test_work_in_other_hands_is_not_refused(new_world: NewWorld, waits: int) -> None:
    """However long somebody else takes over that very work, its word is the one that counts."""
    clock = Elsewhere(0, waits)
    world = clock.world = new_world(clock=clock)
    world.say(a_request("job.stop"))
    clock.take()
    world.act()
    assert (world.result(WORK).outcome, world.result(WORK).detail) == ("done", "by the other")
    assert world.fakes.scheduler.orders == []


def test_a_failure_is_not_noted_over_somebody_elses_work(new_world: NewWorld) -> None:
    """Our tries fail, and then another runner is at the same work: it may still succeed, and then it has."""
    clock = Elsewhere(5, 400)
    world = clock.world = new_world(scheduler=FakeScheduler(*[ConnectionError("no controller")] * 20), clock=clock)
    world.say(a_request("job.stop"))
    world.act()
    assert (world.result(WORK).outcome, world.result(WORK).detail) == ("done", "by the other")
    assert len(world.fakes.scheduler.orders) == 5


class AwayJournal(SqliteJournal):
    """A journal that does not answer at first."""

    faults = 2

    def append(self, messages: Sequence[tuple[str, bytes]], received: float) -> int:
        """Append, in the end."""
        if self.faults:
            self.faults -= 1
            raise StoreAway("Kafka does not answer")
        return super().append(messages, received)


def test_the_end_is_told_when_the_stores_are_back(world: World) -> None:
    """What was done is told as often as it takes, and neither done again nor forgotten."""
    world.journal = AwayJournal(world.database)
    world.say(a_request("job.stop"))
    world.act()
    assert world.result("r-job.stop").outcome == "done"
    assert len(world.fakes.scheduler.orders) == 1
    assert len(world.events()) == 1


class AwayLeases(SqliteLeases):
    """Leases that cannot be noted in at first."""

    faults = 3

    def finish_under(self, key: str, outcome: str, lease: Lease) -> str | None:
        """Note, in the end."""
        if self.faults:
            self.faults -= 1
            raise StoreAway("Redis does not answer")
        return super().finish_under(key, outcome, lease)


def test_what_was_done_is_not_done_again_because_it_could_not_be_noted(world: World) -> None:
    """The store goes away while the action runs: the runner notes the end when it is back, under the same lease."""
    world.leases = AwayLeases(world.database)
    world.say(a_request("job.stop"))
    world.act()
    assert world.result("r-job.stop").outcome == "done"
    assert len(world.fakes.scheduler.orders) == 1
