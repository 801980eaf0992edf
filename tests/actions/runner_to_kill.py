"""A runner in a process of its own, to be killed by a test; stops at the named place and says so in a file.

Arguments: folder with the database, place to stop at (`in the action`, `before the event`, `before the result`).
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from streams.acting.footing import Alone
from streams.acting.runner import Runner
from streams.ports.aiohttp_http import AiohttpHttp
from streams.ports.real_ports import real_ports
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.numbers import SqliteNumbers

ORDER = (
    "import pathlib, sys, time; pathlib.Path(sys.argv[1]).open('a').write('ordered\\n'); time.sleep(float(sys.argv[2]))"
)


def stop_here(folder: Path) -> None:
    """Say that the place is reached, and wait for the kill."""
    (folder / "reached").touch()
    time.sleep(600)


class StoppingJournal(SqliteJournal):
    """Stops before the event is written."""

    folder: Path

    def append(self, messages: Sequence[tuple[str, bytes]], received: float) -> int:  # noqa: ARG002
        """Stop."""
        stop_here(self.folder)
        raise AssertionError("killed before")


class StoppingArchive(SqliteArchive):
    """Stops before the result is written."""

    folder: Path

    def put(self, sent: Sequence[Sent], upto: int) -> None:  # noqa: ARG002
        """Stop."""
        stop_here(self.folder)
        raise AssertionError("killed before")


def stop_command(folder: Path, seconds: float) -> list[str]:
    """The command that stops a job: notes that it was called, and takes its time."""
    return [sys.executable, "-c", ORDER, str(folder / "orders"), str(seconds)]


async def live(folder: Path, place: str) -> None:
    """Run what is there, up to the place."""
    database = Database(folder / "trainmaster.db")
    archive, journal = SqliteArchive(database), SqliteJournal(database)
    if place == "before the event":
        journal = StoppingJournal(database)
        journal.folder = folder
    if place == "before the result":
        archive = StoppingArchive(database)
        archive.folder = folder
    seconds = 5.0 if place == "in the action" else 0.0
    async with AiohttpHttp() as http:
        scheduler = {"stop": stop_command(folder, seconds)}
        ports = real_ports(archive, http, documents=folder, sinks={}, scheduler=scheduler)
        await Runner(archive, SqliteLeases(database), journal, SqliteNumbers(database), Alone(ports)).drain()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2]))
