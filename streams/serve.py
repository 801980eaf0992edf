"""`trainmaster run`: HTTP ingest, the line, the runner of actions and the page in one process over one database."""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable

from schemas.codec import encode
from schemas.telemetry import Tick
from streams.acting.footing import Alone
from streams.acting.runner import Runner
from streams.clock import monotonic_seconds, unix_seconds
from streams.feed.app import create_app
from streams.feed.health import Health
from streams.feed.server import FeedServer, address
from streams.install import build_line, installed_causes
from streams.ports.aiohttp_http import AiohttpHttp
from streams.ports.real_ports import real_ports
from streams.runtimes.embedded import Embedded
from streams.runtimes.memories import EVERYBODY
from streams.settings import Settings
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.numbers import SqliteNumbers
from streams.stores.snapshots import SqliteSnapshots

IDLE_SECONDS = 0.2
STARTING_SECONDS = 0.02
_log = logging.getLogger(__name__)


class Service:
    """Everything of one installation in one process.

    Args:
        settings: of the installation; checked as far as they can be before anything starts.

    Raises:
        BadSettings, BadPlaybook, BadPorts: something cannot be used; nothing was started.
        OpenToEveryone: it would listen to other machines without a token.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        line = build_line(settings)
        settings.state.mkdir(parents=True, exist_ok=True)
        self.database = Database(settings.database)
        self.journal = SqliteJournal(self.database)
        self.archive = SqliteArchive(self.database)
        self.leases = SqliteLeases(self.database)
        self.numbers = SqliteNumbers(self.database)
        self._http = AiohttpHttp()
        self._ports = real_ports(
            self.archive,
            self._http,
            documents=settings.state / "postmortems",
            sinks=settings.sinks,
            scheduler=settings.scheduler,
            page=settings.link or (f"http://{settings.host}:{settings.port}" if settings.port else ""),
        )
        self.runtime = Embedded(line, self.journal, SqliteSnapshots(self.database), self.archive)
        token = settings.token.get_secret_value() if settings.token is not None else None
        app = create_app(
            self.journal,
            self.archive,
            self.leases,
            self.numbers,
            Health(self.journal, self.archive),
            wake=self._wake,
            causes=[cause.cause for cause in installed_causes(settings)],
            token=token,
        )
        self._server = FeedServer(app, settings.host, settings.port, token)
        self._work, self._ending = threading.Event(), threading.Event()
        self._runner: Runner | None = None

    async def run(self, ready: Callable[[str], None] = lambda _: None) -> None:
        """Serve until the process is told to end, or `stop` is called.

        Args:
            ready: called with the page's address once the server listens.
        """
        for key, why in self.runtime.memories.lost.items():
            _log.warning("memory of %s could not be read back and starts empty: %s", key, why)
        # The server raises a signal again once it has ended; without a handler of ours that would cut the rest short.
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)
        async with self._http:
            self._runner = Runner(
                self.archive, self.leases, self.journal, self.numbers, Alone(self._ports), wake_line=self._wake
            )
            async with asyncio.TaskGroup() as group:
                side = [
                    group.create_task(self._runner.run()),
                    group.create_task(self._tick()),
                    group.create_task(self._announce(ready)),
                ]
                line = group.create_task(asyncio.to_thread(self._run_line))
                line.add_done_callback(lambda _: self.stop())
                try:
                    await self._server.serve()
                finally:
                    # Also where a side task fails: the line's thread cannot be cancelled, and would keep us for ever.
                    self._ending.set()
                    self._work.set()
                for task in side:
                    task.cancel()
        self.database.close()

    def stop(self) -> None:
        """End `run`; from any thread."""
        self._server.should_exit = True

    def _wake(self) -> None:
        self._work.set()

    def _run_line(self) -> None:
        """Take the journal through the line, on a thread of its own; a fault ends the process, and nothing is lost."""
        saved = monotonic_seconds()
        while not self._ending.is_set():
            self._work.clear()
            taken = self.runtime.work()
            if taken and self._runner is not None:
                self._runner.wake()
            if monotonic_seconds() - saved >= self.settings.snapshot:
                self.runtime.save()
                saved = monotonic_seconds()
            if not taken:
                self._work.wait(IDLE_SECONDS)
        while self.runtime.work():
            pass
        self.runtime.save()

    async def _tick(self) -> None:
        """Put moments into the journal, so that the line can tell silence without reading a clock."""
        while self.settings.tick:
            now = unix_seconds()
            tick = encode(Tick(time=now, every=self.settings.tick))
            await asyncio.to_thread(self.journal.append, [(EVERYBODY, tick)], now)
            self._wake()
            await asyncio.sleep(self.settings.tick)

    async def _announce(self, ready: Callable[[str], None]) -> None:
        while not self._server.started:
            await asyncio.sleep(STARTING_SECONDS)
        ready(address(self._server))
