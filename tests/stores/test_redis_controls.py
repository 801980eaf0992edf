"""Control documents that several runners change: none of their wishes is lost, and a lost lease writes nothing."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import redis
from msgspec import Struct
from pydantic import SecretStr

from schemas.action import Control
from streams.ports.control_document import with_settings
from streams.ports.redis_trainer import RedisTrainer
from streams.settings import RedisSettings
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.redis_client import connect
from streams.stores.redis_controls import RedisControls
from streams.stores.redis_leases import RedisLeases
from streams.stores.store import FencedOff, Lease
from tests.stores.at_once import at_once

pytestmark = pytest.mark.service
JOB = "wm-64"


class Place(Struct, frozen=True):
    """What the tests look at."""

    controls: RedisControls
    leases: RedisLeases
    client: redis.Redis
    prefix: str

    def lease(self, target: str, holder: str = "one", now: float = 0.0) -> Lease:
        """Take a target for ten seconds."""
        lease = self.leases.acquire(target, holder, now, 10.0)
        assert lease is not None
        return lease


@pytest.fixture
def place(redis_url: str, tmp_path: Path) -> Iterator[Place]:
    """Documents and leases under a prefix of the test's own."""
    client = connect(RedisSettings(url=SecretStr(redis_url)))
    prefix = str(tmp_path)
    yield Place(RedisControls(client, prefix), RedisLeases(client, prefix), client, prefix)
    client.close()


class Topic(SqliteArchive):
    """The archive, and what went to the topic, in order; `before` is called once, before a record goes there."""

    def __init__(self) -> None:
        self.database = Database(":memory:")
        super().__init__(self.database)
        self.versions: list[int] = []
        self.before: Callable[[], object] = lambda: None

    def put(self, sent: Sequence[Sent], upto: int) -> None:
        """File, and note the version."""
        before, self.before = self.before, lambda: None
        before()
        self.versions += [one.record.version for one in sent if isinstance(one.record, Control)]
        super().put(sent, upto)


def wish(place: Place, lease: Lease, name: str, value: str = "on") -> Control:
    """Change one setting under a lease."""
    return place.controls.change(JOB, lease, lambda now: with_settings(now, JOB, 1, {name: value}, f"r-{name}"))


def test_versions_grow_by_one_and_no_wish_is_lost(place: Place) -> None:
    """Eight runners on targets of their own change one document at once: eight versions, eight settings."""
    leases = [place.lease(f"target {who}") for who in range(8)]
    changed = at_once(8, lambda who: wish(place, leases[who], f"setting {who}"))
    assert sorted(one.version for one in changed) == list(range(1, 9))
    present = place.controls.read(JOB)
    assert present is not None
    assert (present.version, len(present.settings)) == (8, 8)


def test_the_same_wish_again_changes_nothing(place: Place) -> None:
    """Said twice, by the same runner or by the one that took over, a wish makes one version."""
    first = wish(place, place.lease(JOB), "loader.path")
    assert wish(place, place.lease(JOB, "two", 10.0), "loader.path") == first
    assert place.controls.read(JOB) == first


def test_an_old_holder_changes_nothing(place: Place) -> None:
    """A runner that slept through the end of its lease is fenced off once its successor has written."""
    slept = place.lease(JOB)
    successor = place.lease(JOB, "two", 10.0)
    changed = wish(place, successor, "loader.path")
    with pytest.raises(FencedOff, match=JOB):
        wish(place, slept, "checkpoint.async")
    assert place.controls.read(JOB) == changed
    assert wish(place, successor, "checkpoint.async").version == 2


def test_the_fence_of_one_target_is_none_for_another(place: Place) -> None:
    """High numbers on one target keep nobody from writing under a low one on another."""
    for second in range(5):
        busy = place.lease(JOB, f"holder {second}", 10.0 * second)
    wish(place, busy, "loader.path")
    assert wish(place, place.lease("steps 10 to 20"), "checkpoint.async").version == 2


def test_the_topic_ends_with_the_newest_document(place: Place) -> None:
    """A runner held up between its change and its word speaks after its successor: the newest has the last word."""
    topic = Topic()
    slow = RedisTrainer(place.controls, topic, place.lease("one target"))
    fast = RedisTrainer(place.controls, topic, place.lease("another target"))

    def overtake() -> None:
        at_once(1, lambda _: asyncio.run(fast.set(JOB, 1, {"checkpoint.async": True}, "r2")))

    topic.before = overtake
    changed = asyncio.run(slow.set(JOB, 1, {"loader.path": "cache"}, "r1"))
    assert changed.version == 1
    assert topic.versions == [2, 1, 2]
    topic.database.close()


def test_a_server_that_has_lost_the_document_takes_it_from_the_topic(place: Place) -> None:
    """After Redis has forgotten everything the next change goes on from what was published."""
    topic = Topic()
    asyncio.run(RedisTrainer(place.controls, topic, place.lease(JOB)).set(JOB, 1, {"loader.path": "cache"}, "r1"))
    place.client.delete(*place.client.keys(f"{place.prefix}*"))
    after = RedisTrainer(place.controls, topic, place.lease(JOB))
    changed = asyncio.run(after.set(JOB, 1, {"checkpoint.async": True}, "r2"))
    assert (changed.version, sorted(changed.settings)) == (2, ["checkpoint.async", "loader.path"])
    topic.database.close()
