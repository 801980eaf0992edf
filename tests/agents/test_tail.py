"""Following the ranks' files: every line once, in order, whatever happens to the files and to the reader."""

import json
import os
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.agents import tail as tail_module
from streams.agents.rank_file import Source, find
from streams.agents.tail import Mark, Places, Read, Tail, load_places, save_places
from streams.agents.trainer import Hook
from tests.agents.rank_lines import flush_all


class Writer:
    """Writes a rank's file as a hook does, one piece at a time; a line may stay half written for a while."""

    def __init__(self, directory: Path, rank: int = 0) -> None:
        self._path = directory / "j" / "attempt-1" / f"rank-{rank:04d}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._half = b""
        self.complete = 0
        self._begin_file()

    def line(self) -> None:
        """Write the next line, or the rest of the half one."""
        rest, self._half = self._half or self._next(), b""
        self._append(rest + b"\n")
        self.complete += 1

    def half_line(self) -> None:
        """Write half of the next line."""
        if not self._half:
            whole = self._next()
            self._append(whole[:7])
            self._half = whole[7:]

    def rotate(self) -> None:
        """Put the file aside and begin a new one."""
        if self._half:
            self.line()
        for newer, older in ((".1", ".2"), ("", ".1")):
            if Path(f"{self._path}{newer}").exists():
                Path(f"{self._path}{newer}").replace(f"{self._path}{older}")
        self._begin_file()

    def _begin_file(self) -> None:
        self._append(json.dumps({"hook": 7.5, "n": self.complete, "cpus": [0, 1]}).encode() + b"\n")

    def _next(self) -> bytes:
        return json.dumps({"n": self.complete, "t": 1000.0 + self.complete, "s": self.complete, "v": {}}).encode()

    def _append(self, raw: bytes) -> None:
        with self._path.open("ab") as file:
            file.write(raw)


def check_order(reads: list[Read], last: int) -> int:
    """Check that lines follow on each other from `last` on, but for those counted as missed; give the last one."""
    for read in reads:
        assert read.line.n == last + 1 + read.missed
        last = read.line.n - 1 if read.line.hook else read.line.n
    return last


class Story:
    """A writer, and a reader that may die and start anew where it last wrote down its places."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._state = directory, directory / "places.json"
        self.writer, self.tail = Writer(directory), Tail(directory)
        self.last = -1
        self.poll()
        self.save()

    def poll(self) -> None:
        """Read, and check the order."""
        self.last = check_order(self.tail.poll(), self.last)

    def save(self) -> None:
        """Write the places down."""
        save_places(self._state, self.tail.places())
        self._saved = self.last

    def restart(self) -> None:
        """Start a new life."""
        self.tail, self.last = Tail(self._directory, load_places(self._state)), self._saved


@settings(deadline=None, max_examples=150)
@given(acts=st.lists(st.sampled_from(["line", "line", "half", "rotate", "poll", "save", "restart"]), max_size=60))
def test_every_line_is_read_once_after_the_last_save(acts: list[str]) -> None:
    """Over half lines, renamed and removed files and restarts, a life reads from its save on, in order."""
    with tempfile.TemporaryDirectory() as folder:
        story = Story(Path(folder))
        deeds = {
            "line": story.writer.line,
            "half": story.writer.half_line,
            "rotate": story.writer.rotate,
            "poll": story.poll,
            "save": story.save,
            "restart": story.restart,
        }
        for act in acts:
            deeds[act]()
        story.poll()
        while story.tail.behind:
            story.poll()
        assert story.last == story.writer.complete - 1
        assert story.tail.bad_lines == 0
        assert story.tail.poll() == []


def test_missed_lines_of_removed_files_are_counted(tmp_path: Path) -> None:
    """Lines that were put aside and removed before anyone read them are counted at the next line."""
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    writer.line()
    tail.poll()
    for _ in range(4):
        writer.line()
        writer.line()
        writer.rotate()
    reads = tail.poll()
    assert sum(read.missed for read in reads) == 4
    assert reads[0].since == 1000.0


def test_a_chunk_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long file is read in pieces, a younger one only after the older; `behind` says that there is more."""
    monkeypatch.setattr(tail_module, "CHUNK_BYTES", 200)
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    for _ in range(30):
        writer.line()
    writer.rotate()
    writer.line()
    last, rounds = -1, 0
    while rounds == 0 or tail.behind:
        last = check_order(tail.poll(), last)
        rounds += 1
    assert last == 30
    assert rounds > 5


def test_a_cut_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    """A file that became shorter, or was written anew under the same inode, is read from its first line."""
    path = tmp_path / "j" / "attempt-1" / "rank-0000.jsonl"
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    for _ in range(5):
        writer.line()
    tail.poll()
    path.write_text('{"hook":9.5,"n":0}\n{"n":0,"t":5.0,"s":77}\n')
    assert [read.line.s for read in tail.poll() if not read.line.hook] == [77]
    longer = "".join(f'{{"n":{n},"t":6.0,"s":{100 + n}}}\n' for n in range(20))
    path.write_text('{"hook":11.5,"n":0}\n' + longer)
    assert [read.line.s for read in tail.poll() if not read.line.hook] == list(range(100, 120))


def test_bad_lines_cost_only_themselves(tmp_path: Path) -> None:
    """Rubbish between lines is counted, and the lines beside it are read."""
    path = tmp_path / "j" / "attempt-1" / "rank-0000.jsonl"
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    writer.line()
    with path.open("ab") as file:
        file.write(b'rubbish\n\xff\xfe\n{"n":"x"}\n\n[1]\n' + b'{"n":1,"d":' + b'{"a":' * 5000 + b"}\n")
    writer.line()
    assert [read.line.s for read in tail.poll() if not read.line.hook] == [0, 1]
    assert tail.bad_lines == 5


def test_a_line_longer_than_a_chunk_does_not_stop_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that no hook writes is skipped, and what follows is read."""
    monkeypatch.setattr(tail_module, "CHUNK_BYTES", 500)
    path = tmp_path / "j" / "attempt-1" / "rank-0000.jsonl"
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    with path.open("ab") as file:
        file.write(b"x" * 2000 + b"\n")
    writer.line()
    steps = [read.line.s for read in tail.poll() if not read.line.hook]
    while tail.behind:
        steps += [read.line.s for read in tail.poll() if not read.line.hook]
    assert steps == [0]
    assert tail.bad_lines > 0


def test_pending_lines_are_read_again_by_the_next_life(tmp_path: Path) -> None:
    """Places that leave out pending lines bring exactly these and what follows to the next life."""
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    for _ in range(5):
        writer.line()
    reads = tail.poll()
    pending = [read.mark for read in reads if read.line.s in (3, 4)]
    again = Tail(tmp_path, tail.places(pending)).poll()
    assert [read.line.s for read in again] == [3, 4]
    assert all(read.missed == 0 for read in again)
    assert Tail(tmp_path, tail.places([Mark(inode=1, offset=0)])).poll() == []


def test_new_ranks_attempts_and_jobs_appear(tmp_path: Path) -> None:
    """Files that come later are found, and what is no rank's file is left alone."""
    tail = Tail(tmp_path)
    assert tail.poll() == []
    for job, attempt, rank in (("a/b", 1, 0), ("a/b", 2, 0), (".c", 1, 11)):
        with Hook(str(tmp_path), job, rank, attempt).step(1):
            pass
    flush_all()
    (tmp_path / "stray").write_text("x")
    (tmp_path / "a%2Fb" / "attempt-x").mkdir()
    (tmp_path / "a%2Fb" / "attempt-1" / "rank-0000.txt").write_text("x")
    found = {read.source for read in tail.poll()}
    assert found == {Source("a/b", 1, 0), Source("a/b", 2, 0), Source(".c", 1, 11)}


def test_files_that_move_while_they_are_read_keep_their_order(tmp_path: Path) -> None:
    """A reader beside a hook that puts its file aside all the time reads in order, and counts what it missed."""
    hook = Hook(str(tmp_path), "j")
    hook.limit_bytes = 5000
    ready = threading.Event()

    def write() -> None:
        for step in range(12_000):
            with hook.step(step):
                pass
            hook.flush()
            if step == 10:
                ready.set()

    thread = threading.Thread(target=write)
    thread.start()
    assert ready.wait(10)
    story, reads = Tail(tmp_path), list[Read]()
    while not reads:
        reads = story.poll()
    last, rounds = check_order(reads, reads[0].line.n - 1), 0
    while thread.is_alive():
        last = check_order(story.poll(), last)
        rounds += 1
    thread.join()
    while last < 11_999:
        last = check_order(story.poll(), last)
    assert rounds > 20


def test_a_hook_that_starts_anew_counts_anew(tmp_path: Path) -> None:
    """A second process that goes on in the same file is no gap."""
    for _ in range(2):
        hook = Hook(str(tmp_path), "j")
        for step in range(3):
            with hook.step(step):
                pass
        hook.flush()
    assert [read.missed for read in Tail(tmp_path).poll()] == [0] * 8


def test_places_survive_the_disk(tmp_path: Path) -> None:
    """What is written down is read back; a damaged or missing file means the beginning."""
    writer, tail = Writer(tmp_path), Tail(tmp_path)
    writer.line()
    tail.poll()
    save_places(tmp_path / "state" / "places.json", tail.places())
    assert load_places(tmp_path / "state" / "places.json") == tail.places()
    (tmp_path / "state" / "places.json").write_text("{")
    assert load_places(tmp_path / "state" / "places.json") == Places()
    assert load_places(tmp_path / "none") == Places()


def test_hundreds_of_old_attempts_are_read_a_few_files_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many files there are, only so many are open at once, and what was read is not opened again."""
    monkeypatch.setattr(tail_module, "_OPEN_AT_ONCE", 10)
    for attempt in range(1, 34):
        with Hook(str(tmp_path), "j", attempt=attempt).step(attempt):
            pass
    flush_all()
    tail = Tail(tmp_path)
    steps, rounds = [read.line.s for read in tail.poll() if not read.line.hook], 1
    while tail.behind:
        steps += [read.line.s for read in tail.poll() if not read.line.hook]
        rounds += 1
    assert steps == list(range(1, 34))
    assert rounds == 4
    with Hook(str(tmp_path), "j", attempt=40).step(40):
        pass
    flush_all()
    assert [read.line.s for read in tail.poll() if not read.line.hook] == [40]


def test_older_files_of_a_rank_come_first(tmp_path: Path) -> None:
    """The files of a rank are listed by age, oldest first."""
    writer = Writer(tmp_path)
    writer.rotate()
    writer.rotate()
    assert [file.age for file in find(tmp_path)] == [2, 1, 0]


def test_a_file_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    """Folders and pipes of a rank file's name are none; one whose disk fails is named and tried again at every look."""
    writer = Writer(tmp_path)
    writer.line()
    home = tmp_path / "j" / "attempt-1"
    (home / "rank-0001.jsonl").mkdir()
    os.mkfifo(home / "rank-0002.jsonl")
    failing = home / "rank-0003.jsonl"
    failing.symlink_to("/proc/self/mem")  # opens, and gives an I/O error where it is read
    tail = Tail(tmp_path)
    assert {read.line.s for read in tail.poll()} == {-1, 0}
    assert tail.faults == {str(failing): "Input/output error"}
    assert tail.poll() == []
    assert tail.faults.keys() == {str(failing)}
    failing.unlink()
    Writer(tmp_path, 3).line()
    assert {read.source.rank for read in tail.poll()} == {3}
    assert tail.faults == {}
