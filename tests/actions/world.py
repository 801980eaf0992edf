"""A whole installation on one SQLite file, with fakes at its edges, for a runner to work in."""

import asyncio
from pathlib import Path
from typing import Any

from msgspec import structs

from playbooks.ports import Ports
from schemas.action import Request, Result
from schemas.codec import decode
from schemas.incident import Incident
from schemas.telemetry import Event
from schemas.topics import Outbound
from streams.acting.footing import Alone
from streams.acting.runner import Runner
from streams.acting.settings import ActSettings
from streams.ports.archive_records import ArchiveRecords
from streams.ports.control_trainer import ControlTrainer
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.numbers import SqliteNumbers
from tests.fakes import FakePorts, fake_ports


class World:
    """Stores, fakes, and what a test wants to know of them."""

    def __init__(self, path: Path, **given: Any) -> None:  # Any: whichever fakes the test brings along
        self.database = Database(path)
        self.archive = SqliteArchive(self.database)
        self.journal = SqliteJournal(self.database)
        self.leases = SqliteLeases(self.database)
        self.numbers = SqliteNumbers(self.database)
        self.fakes: FakePorts = fake_ports(**given)

    @property
    def ports(self) -> Ports:
        """The fakes, but with the real view of the archive and the real control documents."""
        return structs.replace(
            self.fakes.ports(), records=ArchiveRecords(self.archive), trainer=ControlTrainer(self.archive)
        )

    def runner(self, **changed: Any) -> Runner:  # Any: any argument of the runner
        """A runner, as it would be after a restart."""
        given = {"settings": ActSettings(), **changed}
        return Runner(self.archive, self.leases, self.journal, self.numbers, Alone(self.ports), **given)

    def say(self, *records: Outbound) -> None:
        """File records under their topics."""
        topics = {Incident: "incidents", Request: "requests", Result: "results"}
        sent = [Sent(topics.get(type(one), "detections"), "key", one) for one in records]
        self.archive.put(sent, self.archive.progress())

    def act(self, **changed: Any) -> None:  # Any: any argument of the runner
        """Run everything that is there, with a new runner."""
        asyncio.run(self.runner(**changed).drain())

    def result(self, request: str) -> Result:
        """How a request ended."""
        result = self.archive.result(request)
        assert result is not None, f"{request} has no result"
        return result

    def wishes(self, job: str = "wm-64") -> dict[str, str | int | float | bool]:
        """The settings a trainer would read."""
        control = self.archive.control(job)
        return {} if control is None else {name: one.value for name, one in control.settings.items()}

    def events(self) -> list[Event]:
        """What the pure line would read."""
        records = [decode(entry.raw) for entry in self.journal.read(0, 1000)]
        return [record for record in records if isinstance(record, Event)]

    def close(self) -> None:
        """Close the file."""
        self.database.close()
