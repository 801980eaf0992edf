"""The homes that every test of a store runs against; another home is one more line in `_HOMES`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.snapshots import SqliteSnapshots
from streams.stores.store import Archive, Journal, Leases, Snapshots

POINTS_KEPT = 100


class Home(Struct, frozen=True):
    """One of each store, on the same storage."""

    journal: Journal
    snapshots: Snapshots
    archive: Archive
    leases: Leases
    close: Callable[[], None]


def _sqlite(path: str | Path) -> Home:
    database = Database(path)
    return Home(
        SqliteJournal(database),
        SqliteSnapshots(database),
        SqliteArchive(database, POINTS_KEPT),
        SqliteLeases(database),
        database.close,
    )


_HOMES: dict[str, Callable[[Path], Home]] = {
    "sqlite": lambda folder: _sqlite(folder / "trainmaster.db"),
    "sqlite in memory": lambda _: _sqlite(":memory:"),
}


@pytest.fixture(params=_HOMES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """Every home in turn, empty."""
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
