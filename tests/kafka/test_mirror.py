"""The copy of the topics: cut off anywhere it files nothing twice, and all copies number alike."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import redis
from kafka import KafkaAdminClient

from schemas.codec import encode
from streams.kafka.connection import client_arguments
from streams.kafka.log_producer import log_producer
from streams.kafka.message import Letter
from streams.kafka.mirror import FOLLOWED, Mirror
from streams.kafka.topic_admin import Standing, apply, require_topics
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.positions import Place, SqlitePositions
from streams.stores.redis_numbers import RedisNumbers
from streams.stores.store import Filed
from tests.actions.samples import a_detection, a_request, an_incident
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation
from tests.waiting import until

pytestmark = pytest.mark.service
SECONDS = 30.0
REVISIONS = 20


class CutOff(Exception):
    """The process ends here."""


class Copying:
    """One process's copy in a file.

    Args:
        archive, positions: kinds of its stores, some of which are cut off.
    """

    def __init__(
        self,
        installation: Installation,
        client: redis.Redis,
        path: Path,
        archive: type[SqliteArchive] = SqliteArchive,
        positions: type[SqlitePositions] = SqlitePositions,
    ) -> None:
        self.database = Database(path)
        self.archive = archive(self.database)
        self.mirror = Mirror(
            client_arguments(installation.settings),
            require_topics(installation.settings),
            self.archive,
            positions(self.database),
            RedisNumbers(client, installation.name),
        )

    def until_whole(self) -> list[Filed]:
        """Copy what there is; give it."""

        async def live() -> None:
            copying = asyncio.create_task(self.mirror.run())
            whole = asyncio.create_task(self.mirror.whole.wait())
            await asyncio.wait((copying, whole), timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
            assert whole.done() or copying.done(), "the copy did not become whole"
            whole.cancel()
            copying.cancel()
            await asyncio.gather(copying, return_exceptions=True)
            if not self.mirror.whole.is_set():
                await copying

        try:
            asyncio.run(live())
            return self.filed()
        finally:
            self.database.close()

    def filed(self) -> list[Filed]:
        """Everything that may be shown."""
        return self.archive.feed(0, 10_000, FOLLOWED)


class FallsBeforeFiling(SqliteArchive):
    """Places were asked for, and nothing filed."""

    def file(self, sent: Sequence[Sent], places: Sequence[int | None]) -> None:
        """End."""
        if sent:
            raise CutOff
        super().file(sent, places)


class FallsWhileFiling(SqliteArchive):
    """Half of a batch was filed."""

    def file(self, sent: Sequence[Sent], places: Sequence[int | None]) -> None:
        """File a half, and end."""
        super().file(sent[: len(sent) // 2], places[: len(sent) // 2])
        if sent:
            raise CutOff


class FallsBeforeNoting(SqlitePositions):
    """All of a batch was filed, and its end not noted."""

    def save(self, positions: Mapping[Place, int]) -> None:
        """End."""
        if positions:
            raise CutOff
        super().save(positions)


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    """The shared Redis."""
    client = redis.Redis.from_url(redis_url)
    yield client
    client.close()


def told(installation: Installation) -> int:
    """Put a detection, an incident with its revisions, and a request on the topics, some of them twice; count them."""
    records: list[tuple[str, str, bytes]] = [("detections", "wm-64", encode(a_detection()))]
    records += [("incidents", "i", encode(an_incident(revision=number))) for number in range(1, REVISIONS + 1)]
    records += [("requests", "i", encode(a_request()))]
    producer = log_producer(installation.settings, "test")
    producer.deliver([Letter(*one) for one in [*records, *records[5:]]])
    producer.close()
    return len(records)


CUTS: dict[str, tuple[type[SqliteArchive], type[SqlitePositions]]] = {
    "before filing": (FallsBeforeFiling, SqlitePositions),
    "while filing": (FallsWhileFiling, SqlitePositions),
    "before noting": (SqliteArchive, FallsBeforeNoting),
}


@pytest.mark.parametrize(("archive", "positions"), CUTS.values(), ids=CUTS)
def test_a_copy_that_was_cut_off_files_nothing_twice(
    new_installation: NewInstallation,
    client: redis.Redis,
    tmp_path: Path,
    archive: type[SqliteArchive],
    positions: type[SqlitePositions],
) -> None:
    """Cut off at any step and begun again, it holds each record once, at the place that all other copies give it."""
    installation = new_installation(2)
    count = told(installation)
    with pytest.raises(ExceptionGroup) as fault:
        Copying(installation, client, tmp_path / "copy.db", archive, positions).until_whole()
    assert fault.group_contains(CutOff)
    again = Copying(installation, client, tmp_path / "copy.db").until_whole()
    other = Copying(installation, client, tmp_path / "other.db").until_whole()
    assert [one.sequence for one in again] == list(range(1, count + 1))
    assert again == other


def test_a_copy_goes_on_where_it_was(new_installation: NewInstallation, client: redis.Redis, tmp_path: Path) -> None:
    """What came while nobody copied comes after what was copied, and stands there in every copy."""
    installation = new_installation(2)
    count = told(installation)
    before = Copying(installation, client, tmp_path / "copy.db").until_whole()
    producer = log_producer(installation.settings, "test")
    producer.deliver([Letter("incidents", "j", encode(an_incident(id="later", revision=1)))])
    producer.close()
    after = Copying(installation, client, tmp_path / "copy.db").until_whole()
    assert after[:-1] == before
    assert (after[-1].sequence, json.loads(after[-1].raw)["id"]) == (count + 1, "later")
    assert Copying(installation, client, tmp_path / "other.db").until_whole() == after


def test_what_is_none_of_ours_is_passed(new_installation: NewInstallation, client: redis.Redis, tmp_path: Path) -> None:
    """A record that somebody else put on our topics stops nothing and takes no place."""
    installation = new_installation(2)
    producer = log_producer(installation.settings, "test")
    producer.deliver([Letter("incidents", "i", b"hello"), Letter("incidents", "i", b"")])
    producer.close()
    count = told(installation)
    filed = Copying(installation, client, tmp_path / "copy.db").until_whole()
    assert [one.sequence for one in filed] == list(range(1, count + 1))


def made_again(installation: Installation, old: Standing) -> bool:
    """Whether a topic is there as another one; it takes the broker a moment to delete it."""
    new = next(one for one in apply(installation.settings) if one.name == old.name)
    return not new.fault and new.id != old.id


def test_a_topic_made_anew_is_another_topic(
    new_installation: NewInstallation, client: redis.Redis, tmp_path: Path
) -> None:
    """Where a topic was deleted and made again its first record is copied, however far the old one had been read."""
    installation = new_installation(2)
    told(installation)
    first = Copying(installation, client, tmp_path / "copy.db").until_whole()
    old = require_topics(installation.settings)["incidents"]
    admin = KafkaAdminClient(bootstrap_servers=installation.bootstrap)
    admin.delete_topics([f"{installation.name}.incidents"])
    admin.close()
    until(lambda: made_again(installation, old), SECONDS, "the topic was not made again")
    producer = log_producer(installation.settings, "test")
    producer.deliver([Letter("incidents", "j", encode(an_incident(id="new", revision=1)))])
    producer.close()
    filed = Copying(installation, client, tmp_path / "copy.db").until_whole()
    assert filed[: len(first)] == first
    assert [json.loads(one.raw)["id"] for one in filed[len(first) :]] == ["new"]
