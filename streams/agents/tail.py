"""Following the ranks' files: new, renamed, half-written and cut ones, and an agent that starts anew."""

import os
import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec import Struct, field

from streams.agents.rank_file import Line, RankFile, Source, find, parse
from streams.agents.whole_file import write_whole

CHUNK_BYTES = 1 << 18
_HEAD_BYTES = 512
_OPEN_AT_ONCE = 256


class Position(Struct, frozen=True):
    """How far a file has been read.

    Attributes:
        offset: bytes; always just after a line.
        head: checksum of the file's beginning: inode numbers are given out again, a first line never is.
    """

    offset: int
    head: int


class LastLine(Struct, frozen=True):
    """The last line read of a rank: its number, its time, and the start of the hook that wrote it."""

    n: int
    time: float
    start: float


class Places(Struct, kw_only=True):
    """Where to go on reading; what the state file holds.

    Attributes:
        files: inode -> position.
        last: `JOB/attempt/rank` -> last line read.
    """

    files: dict[int, Position] = field(default_factory=dict)
    last: dict[str, LastLine] = field(default_factory=dict)


class Mark(Struct, frozen=True):
    """Where a line begins."""

    inode: int
    offset: int


class Read(Struct, frozen=True):
    """A line as it was read.

    Attributes:
        missed: lines of this rank before it that nobody will read: lost by the hook, or put aside and removed.
        since: Unix seconds of the line before those.
    """

    source: Source
    line: Line
    mark: Mark
    missed: int = 0
    since: float = 0.0


class Tail:
    """Reads what is new, each line once per life of this object.

    Args:
        directory: where the hooks write.
        places: where an earlier life stopped.

    Attributes:
        files: the rank files of the last look.
        behind: whether more could be read at once.
        bad_lines: lines that no hook wrote.
        faults: why files could not be read at the last look, by path; they are tried again at every look.
    """

    def __init__(self, directory: Path, places: Places | None = None) -> None:
        self._directory = directory
        self._places = places or Places()
        self._finished: set[tuple[int, float, int]] = set()
        self.files: list[RankFile] = []
        self.behind = False
        self.bad_lines = 0
        self.faults: dict[str, str] = {}

    def poll(self) -> list[Read]:
        """Look at all files and read up to CHUNK_BYTES of each; nothing where they are being renamed just now.

        A list that was made during a renaming may lack a file: its last lines would be read too late, or its first
        ones again. So all files are opened first, and read only if the list is then still true.
        """
        files = find(self._directory)
        if files == self.files and not self.behind and not self.faults:
            return []
        self.faults = {}
        changed = [file for file in files if _state(file) not in self._finished]
        with ExitStack() as stack:
            tried = [(file, self._open(file, stack)) for file in changed[:_OPEN_AT_ONCE]]
            self.behind = not _stands_still(files, find(self._directory))
            if self.behind:
                return []
            self.behind = len(changed) > _OPEN_AT_ONCE
            reads: list[Read] = []
            opened = [(file, number) for file, number in tried if number is not None]
            for source, group in groupby(opened, key=lambda pair: pair[0].source):
                reads += self._read_rank(source, group)
        self.files = files
        self._forget_the_gone()
        return reads

    def places(self, pending: Iterable[Mark] = ()) -> Places:
        """Say where a new life has to go on, so that it reads again the lines that are still pending."""
        files = dict(self._places.files)
        for mark in pending:
            known = files.get(mark.inode)
            if known is not None and mark.offset < known.offset:
                files[mark.inode] = Position(mark.offset, known.head)
        return Places(files=files, last=dict(self._places.last))

    def _open(self, file: RankFile, stack: ExitStack) -> int | None:
        """Give the number of the open file; a stream would read more than there is to read."""
        try:
            number = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None  # renamed or removed, as the second list will show
        except OSError as fault:
            self.faults[str(file.path)] = fault.strerror or str(fault)
            return None
        stack.callback(os.close, number)
        return number

    def _forget_the_gone(self) -> None:
        present = {file.inode for file in self.files}
        self._places.files = {inode: place for inode, place in self._places.files.items() if inode in present}
        self._finished &= {_state(file) for file in self.files}
        written = {_key(file.source) for file in self.files}
        self._places.last = {key: last for key, last in self._places.last.items() if key in written}

    def _read_rank(self, source: Source, opened: Iterable[tuple[RankFile, int]]) -> list[Read]:
        reads: list[Read] = []
        for file, number in opened:
            try:
                lines, complete = self._read_file(number)
            except OSError as fault:  # a disk or a server of files that fails: the other ranks' files are read
                self.faults[str(file.path)] = fault.strerror or str(fault)
                break
            reads += [read for mark, raw in lines if (read := self._understand(source, mark, raw))]
            if not complete:
                self.behind = True
                break  # what is younger waits, so that a rank's lines keep their order
            self._finished.add(_state(file))
        return reads

    def _read_file(self, number: int) -> tuple[list[tuple[Mark, bytes]], bool]:
        """Give the new lines of an open file, and whether it was read to its end."""
        state, head = os.fstat(number), _head(number)
        if head is None:
            return [], True
        inode, size = state.st_ino, state.st_size
        known = self._places.files.get(inode)
        offset = known.offset if known is not None and known.head == head and known.offset <= size else 0
        chunk = os.pread(number, min(CHUNK_BYTES, size - offset), offset)
        end = chunk.rfind(b"\n") + 1
        if not end and len(chunk) == CHUNK_BYTES:
            self.bad_lines += 1  # no hook writes a line that long
            end = len(chunk)
        self._places.files[inode] = Position(offset + end, head)
        return _lines(chunk[:end], inode, offset), len(chunk) < CHUNK_BYTES

    def _understand(self, source: Source, mark: Mark, raw: bytes) -> Read | None:
        line = parse(raw)
        if line is None:
            self.bad_lines += 1
            return None
        key = _key(source)
        last = self._places.last.get(key)
        start = line.hook or (last.start if last else 0.0)
        # The first line of a file has no number of its own: it carries that of the line after it.
        number = line.n - 1 if line.hook else line.n
        if last is None or last.start != start or number > last.n:
            self._places.last[key] = LastLine(number, line.t or (last.time if last else 0.0), start)
        return Read(source, line, mark, _missed(last, line, start), last.time if last else 0.0)


def load_places(path: Path) -> Places:
    """Read the state file; where there is none, or it is damaged, reading starts at the beginning."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Places)
    except (OSError, msgspec.DecodeError):
        return Places()


def save_places(path: Path, places: Places) -> None:
    """Write the state file whole or not at all."""
    write_whole(path, msgspec.json.encode(places))


def _key(source: Source) -> str:
    return f"{source.job}/{source.attempt}/{source.rank}"


def _state(file: RankFile) -> tuple[int, float, int]:
    return file.inode, file.changed, file.size


def _stands_still(before: Sequence[RankFile], after: Sequence[RankFile]) -> bool:
    """Tell whether every file is where it was; of one that was put aside the time is that of its last line for ever."""
    names = [
        [(file.path, file.inode, file.changed if file.age else 0.0) for file in files] for files in (before, after)
    ]
    return names[0] == names[1] and all(file.inode for file in before)


def _missed(last: LastLine | None, line: Line, start: float) -> int:
    if last is None:
        return 0
    expected = last.n + 1 if last.start in (0.0, start) else 0
    return max(0, line.n - expected)


def _head(number: int) -> int | None:
    """Give the checksum of a file's beginning, None while its first line is not complete."""
    beginning = os.pread(number, _HEAD_BYTES, 0)
    end = beginning.find(b"\n") + 1
    if not end and len(beginning) < _HEAD_BYTES:
        return None
    return zlib.crc32(beginning[:end] if end else beginning)


def _lines(chunk: bytes, inode: int, offset: int) -> list[tuple[Mark, bytes]]:
    lines = []
    for raw in chunk.splitlines(keepends=True):
        if raw.strip():
            lines.append((Mark(inode, offset), raw))
        offset += len(raw)
    return lines
