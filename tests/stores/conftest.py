"""The homes that every test of a store runs against; another home is one more line in `_HOMES`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import Struct
from pydantic import SecretStr

from streams.settings import RedisSettings
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.numbers import SqliteNumbers
from streams.stores.redis_client import connect
from streams.stores.redis_leases import RedisLeases
from streams.stores.redis_numbers import RedisNumbers
from streams.stores.redis_snapshots import RedisSnapshots
from streams.stores.snapshots import SqliteSnapshots
from streams.stores.store import Archive, Journal, Leases, Numbers, Snapshots

POINTS_KEPT = 100


class Home(Struct, frozen=True):
    """One of each store, on the same storage."""

    journal: Journal
    snapshots: Snapshots
    archive: Archive
    leases: Leases
    numbers: Numbers
    close: Callable[[], None]


def _sqlite(path: str | Path) -> Home:
    database = Database(path)
    return Home(
        SqliteJournal(database),
        SqliteSnapshots(database),
        SqliteArchive(database, POINTS_KEPT),
        SqliteLeases(database),
        SqliteNumbers(database),
        database.close,
    )


def _redis(folder: Path, url: str) -> Home:
    """Snapshots, leases and numbers as they are kept beside Kafka; under a prefix of the test's own."""
    database = Database(folder / "trainmaster.db")
    client = connect(RedisSettings(url=SecretStr(url)))
    prefix = f"test:{folder.name}:{id(client)}"

    def close() -> None:
        client.close()
        database.close()

    return Home(
        SqliteJournal(database),
        RedisSnapshots(client, prefix),
        SqliteArchive(database, POINTS_KEPT),
        RedisLeases(client, prefix),
        RedisNumbers(client, prefix),
        close,
    )


_HOMES: dict[str, Callable[[Path], Home]] = {
    "sqlite": lambda folder: _sqlite(folder / "trainmaster.db"),
    "sqlite in memory": lambda _: _sqlite(":memory:"),
}


@pytest.fixture(params=[*_HOMES, pytest.param("redis", marks=pytest.mark.service)])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """Every home in turn, empty."""
    if request.param == "redis":
        made = _redis(tmp_path, request.getfixturevalue("redis_url"))
    else:
        made = _HOMES[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def journal(home: Home) -> Journal:
    """The journal of the home."""
    return home.journal


@pytest.fixture
def snapshots(home: Home) -> Snapshots:
    """The snapshots of the home."""
    return home.snapshots


@pytest.fixture
def archive(home: Home) -> Archive:
    """The archive of the home; it keeps 100 vitals of a kind."""
    return home.archive


@pytest.fixture
def leases(home: Home) -> Leases:
    """The leases of the home."""
    return home.leases


@pytest.fixture
def numbers(home: Home) -> Numbers:
    """The numbers of the home."""
    return home.numbers
