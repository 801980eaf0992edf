"""The single process whose memory of a job cannot be read back: it says so on its own journal, and goes on."""

import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode, encode
from schemas.telemetry import Event
from streams.line import Line
from streams.runtimes.embedded import Embedded
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.snapshots import SqliteSnapshots
from streams.stores.store import Snapshot
from streams.topology import topology

ARRIVED = 1_740_000_000.0


def said_by(job: str, seq: int) -> tuple[str, bytes]:
    """A record of a job, as it is posted."""
    return job, encode(Event(job=job, attempt=1, node="n1", seq=seq, time=ARRIVED + seq, event="log.line", text="x"))


@pytest.mark.parametrize("data", [b"", b"\xc1", b"not a memory"], ids=["empty", "damaged", "another thing"])
def test_a_job_whose_memory_cannot_be_read_back_is_told(data: bytes) -> None:
    """One report for the job at fault, none for its neighbour, and both go on."""
    causes = load_causes()
    line = Line(topology(causes, load_playbooks(causes=causes)))
    database = Database(":memory:")
    journal, snapshots, archive = SqliteJournal(database), SqliteSnapshots(database), SqliteArchive(database)
    before = Embedded(line, journal, snapshots, archive)
    journal.append([said_by("a", 0), said_by("b", 0)], ARRIVED)
    before.work()
    before.save()
    kept = snapshots.load("a")
    assert kept is not None
    snapshots.save([Snapshot("a", kept.offset, data)])

    after = Embedded(line, journal, snapshots, archive)
    journal.append([said_by("a", 1), said_by("b", 1), said_by("a", 2)], ARRIVED + 5.0)
    while after.work():
        pass
    records = [decode(entry.raw) for entry in journal.read(0, 100)]
    reports = [record for record in records if isinstance(record, Event) and record.event == "history.lost"]
    assert [one.job for one in reports] == ["a"]
    assert reports[0].data["until"] == ARRIVED + 5.0
    assert "since" not in reports[0].data
    assert str(reports[0].data["reason"]).startswith("its memory could not be read back: ")
    assert sorted(after.memories.keys) == ["a", "b"]
    database.close()
