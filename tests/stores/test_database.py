"""The SQLite file keeps its promises through kills, restarts, threads and other versions."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database, WrongVersion
from streams.stores.journal import SqliteJournal
from streams.stores.leases import SqliteLeases
from streams.stores.snapshots import SqliteSnapshots
from streams.stores.store import Snapshot

WRITER = Path(__file__).with_name("acknowledging_writer.py")


def _promised_before_kill(path: Path, lines: int) -> int:
    """Let a process write, kill it without warning after so many promises, give the last promise."""
    process = subprocess.Popen([sys.executable, str(WRITER), str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        said = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        said += process.stdout.readlines()
    return int([line for line in said if line.endswith("\n")][-1])


@pytest.mark.service
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """After kill -9 every acknowledged entry is there, in order, and the archive agrees with its own progress."""
    path = tmp_path / "killed.db"
    promised = 0
    for _ in range(3):
        last = _promised_before_kill(path, 25)
        assert last > promised
        promised = last
    database = Database(path)
    entries = SqliteJournal(database).read(0, promised + 10)
    assert [entry.raw for entry in entries] == [b"entry %d" % number for number in range(1, len(entries) + 1)]
    assert len(entries) >= promised
    archive = SqliteArchive(database)
    filed = archive.feed(0, promised + 10, ["detections"])
    assert len(filed) >= promised - 3
    assert archive.progress() >= promised
    database.close()


def test_everything_is_there_after_reopening(tmp_path: Path) -> None:
    """Journal, snapshots, progress, leases, finished work and the kill switch stand in the file."""
    database = Database(tmp_path / "new folder" / "trainmaster.db")
    offset = SqliteJournal(database).append([("a", b"1")], 1.0)
    SqliteJournal(database).trim(offset)
    SqliteSnapshots(database).save([Snapshot("a", 1, b"memory")])
    SqliteArchive(database).put([], 1)
    lease = SqliteLeases(database).acquire("job:a", "one", 1.0, 9.0)
    SqliteLeases(database).finish("work", "done")
    SqliteLeases(database).stop("ann", 1.0)
    database.close()
    again = Database(tmp_path / "new folder" / "trainmaster.db")
    assert SqliteJournal(again).last() == offset
    assert SqliteSnapshots(again).load("a") == Snapshot("a", 1, b"memory")
    assert SqliteArchive(again).progress() == 1
    leases = SqliteLeases(again)
    second = leases.acquire("job:a", "two", 20.0, 9.0)
    assert lease is not None
    assert second is not None
    assert second.token > lease.token
    assert (leases.finished("work"), leases.stopped_by()) == ("done", "ann")
    again.close()


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    """A newer file, and a file of some other program, are refused with their version, and stay as they were."""
    for name, statement in (("newer.db", "PRAGMA user_version=99"), ("other.db", "CREATE TABLE other (x)")):
        connection = sqlite3.connect(tmp_path / name)
        connection.execute(statement)
        connection.commit()
        connection.close()
        with pytest.raises(WrongVersion, match=name):
            Database(tmp_path / name)


def test_a_file_of_the_version_before_is_brought_up_to_date(tmp_path: Path) -> None:
    """A file without the table of origins keeps what it holds, and gets the table."""
    database = Database(tmp_path / "old.db")
    SqliteJournal(database).append([("a", b"1")], 1.0)
    with database.transaction() as connection:
        connection.execute("DROP TABLE origins")
        connection.execute("PRAGMA user_version=1")
    database.close()
    again = Database(tmp_path / "old.db")
    assert [entry.raw for entry in SqliteJournal(again).read(0, 9)] == [b"1"]
    assert SqliteArchive(again).origins("incidents", "none") == {}
    again.close()


def test_two_may_have_the_file_open(tmp_path: Path) -> None:
    """What one process has written another one reads, and both may write."""
    first, second = Database(tmp_path / "shared.db"), Database(tmp_path / "shared.db")
    SqliteJournal(first).append([("a", b"1")], 1.0)
    SqliteJournal(second).append([("a", b"2")], 2.0)
    assert [entry.raw for entry in SqliteJournal(first).read(0, 9)] == [b"1", b"2"]
    first.close()
    second.close()


@pytest.mark.parametrize("path", ["file", ":memory:"])
def test_threads_take_turns(tmp_path: Path, path: str) -> None:
    """Appends, puts and reads from many threads at once lose nothing and number without a gap."""
    database = Database(tmp_path / "threads.db" if path == "file" else path)
    journal, archive = SqliteJournal(database), SqliteArchive(database)
    offsets: list[int] = []

    def work() -> None:
        for _ in range(20):
            offset = journal.append([("a", b"x"), ("b", b"y")], 1.0)
            archive.put([], offset)
            offsets.append(offset)
            journal.read(offset - 2, 2)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(offsets) == list(range(2, 2 * 6 * 20 + 1, 2))
    assert archive.progress() == journal.last() == 240
    database.close()


def test_reading_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    """While a transaction is open a reader gets at once what stood before it."""
    database = Database(tmp_path / "busy.db")
    journal = SqliteJournal(database)
    journal.append([("a", b"1")], 1.0)
    seen: list[int] = []
    with database.transaction() as connection:
        connection.execute("INSERT INTO journal (key, raw, received) VALUES ('a', x'32', 2.0)")
        reader = threading.Thread(target=lambda: seen.append(len(journal.read(0, 9))))
        reader.start()
        reader.join(timeout=5)
        assert seen == [1]
    assert len(journal.read(0, 9)) == 2
    database.close()


def test_a_failed_transaction_leaves_no_trace(tmp_path: Path) -> None:
    """An error inside undoes everything, and the next transaction works."""
    database = Database(tmp_path / "failed.db")

    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("INSERT INTO journal (key, raw, received) VALUES ('a', x'31', 1.0)")
            raise KeyError("a fault in between")

    with pytest.raises(KeyError):
        fail()
    journal = SqliteJournal(database)
    assert journal.read(0, 9) == []
    assert journal.append([("a", b"1")], 1.0) == 1
    database.close()


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    """A second close does nothing, and the file can be opened again."""
    database = Database(tmp_path / "closed.db")
    database.close()
    database.close()
    with pytest.raises(sqlite3.ProgrammingError):
        SqliteArchive(database).put([Sent("events", "a", None)], 1)  # type: ignore[arg-type]
    Database(tmp_path / "closed.db").close()
