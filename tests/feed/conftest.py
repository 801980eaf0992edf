"""A feed on loopback over a store of its own, filled on demand with the worked case."""

import asyncio
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import Struct

from playbooks.load import load_causes
from schemas.action import Request
from schemas.incident import Incident
from streams.feed.app import create_app
from streams.feed.health import Health
from streams.feed.server import FeedServer
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.numbers import SqliteNumbers
from tests.feed.browser import Browser, running_browser
from tests.feed.worked_case import CACHE, fill, make_incident

Json = Any  # what JSON holds
DEADLINE_SECONDS = 20.0
TOKEN = "correct horse battery staple"


class Answer(Struct, frozen=True):
    """What the feed answered."""

    status: int
    headers: dict[str, str]
    raw: bytes

    def json(self) -> Json:
        """Give the body as JSON."""
        return json.loads(self.raw)


class Feed(Struct, frozen=True):
    """A running feed and the stores behind it; `woken` has an entry for every call of `wake`."""

    url: str
    database: Database
    journal: SqliteJournal
    archive: SqliteArchive
    leases: SqliteLeases
    woken: list[str]

    def call(
        self, method: str, path: str, body: Json = None, data: bytes = b"", headers: dict[str, str] | None = None
    ) -> Answer:
        """Make one call."""
        sent = io.BytesIO(data) if data else None

        async def run() -> Answer:
            async with (
                aiohttp.ClientSession(auto_decompress=False) as session,
                session.request(method, self.url + path, json=body, data=sent, headers=headers) as response,
            ):
                return Answer(
                    response.status, {k.lower(): v for k, v in response.headers.items()}, await response.read()
                )

        return asyncio.run(run())

    def put(self, topic: str, *records: Json) -> None:
        """File records."""
        self.archive.put([Sent(topic, "key", record) for record in records], 0)


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Wait for a condition; fail when it does not come true in time."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"never came true: {what}"
        threading.Event().wait(0.01)


@contextmanager
def running_feed(folder: Path, token: str | None) -> Iterator[tuple[Feed, Callable[[], None]]]:
    """Run a feed on a free port until the end of the block; the second is told to stop it before."""
    database = Database(folder / "trainmaster.db")
    journal, archive, leases = SqliteJournal(database), SqliteArchive(database), SqliteLeases(database)
    woken: list[str] = []
    app = create_app(
        journal,
        archive,
        leases,
        SqliteNumbers(database),
        Health(journal, archive),
        wake=lambda: woken.append(threading.current_thread().name),
        causes=[cause.cause for cause in load_causes()],
        token=token,
    )
    server = FeedServer(app, "127.0.0.1", 0, token)
    thread = threading.Thread(target=server.run, name="feed")
    thread.start()

    def stop() -> None:
        server.should_exit = True

    try:
        wait_until(lambda: server.started, "the server has started")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Feed(f"http://127.0.0.1:{port}", database, journal, archive, leases, woken), stop
    finally:
        stop()
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()
        database.close()


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[Feed]:
    """An empty feed without a token."""
    with running_feed(tmp_path, None) as (running, _):
        yield running


@pytest.fixture
def worked_feed(feed: Feed) -> Feed:
    """A feed over the worked case."""
    fill(feed.archive)
    return feed


@pytest.fixture(scope="module")
def shared_feed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feed]:
    """A feed over the worked case, for tests that change nothing."""
    with running_feed(tmp_path_factory.mktemp("shared"), None) as (running, _):
        fill(running.archive)
        yield running


@pytest.fixture(scope="module")
def guarded_feed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feed]:
    """A feed over the worked case that asks for `TOKEN`, for tests that change nothing."""
    with running_feed(tmp_path_factory.mktemp("guarded"), TOKEN) as (running, _):
        fill(running.archive)
        yield running


@pytest.fixture
def incident() -> Callable[..., Incident]:
    """Make revisions of the incident of the worked case."""
    return make_incident


@pytest.fixture
def asked() -> Request:
    """The request of the worked case that waits for a person."""
    return CACHE


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, a tab for each."""
    with running_browser(tmp_path_factory.mktemp("browser")) as running:
        yield running
