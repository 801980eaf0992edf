"""Following logs of trainers and launchers: new ones, rotated and truncated ones, and an agent that starts anew."""

import contextlib
import os
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from glob import glob
from pathlib import Path

import msgspec
from msgspec import Struct

from streams.agents.finding import Finding, Happening, LoggedStep, Of, Sample
from streams.agents.logs.reader import LogReader
from streams.agents.whole_file import write_whole
from streams.clock import local_zone, unix_seconds

Data = dict[str, str | int]

CHUNK_BYTES = 1 << 20
MOST_OF_A_KIND = 100
"""Events of one kind from one look; in a flood the first are told and the rest is counted."""
_MOST_FILES = 256
"""Followed at once; of more files those that were written last."""
_HEAD_BYTES = 256


class _Followed(Struct):
    """One file that is being read; it stays open, so that its end is read though it was renamed or removed."""

    path: str
    file: int
    reader: LogReader
    offset: int
    quiet: bool = False
    head: tuple[int, int] = (0, 0)


class _Place(Struct, frozen=True):
    """How far a file has been read, for the next start of the agent.

    Attributes:
        head: length and checksum of its beginning: the number of a file that is gone is given to another one.
    """

    path: str
    offset: int
    head: tuple[int, int] = (0, 0)


class _There(Struct, frozen=True):
    """A file that a pattern names; `changed` in Unix nanoseconds."""

    path: str
    inode: int
    size: int
    changed: int


class LogTail:
    """Reads what is new in the files of some patterns.

    A file that is there when the first agent starts is read from its end, one that comes later from its beginning. One
    that is renamed or removed is read to its end before a new one of that name. Of many files those are followed that
    were written last; the others rest, and go on where they stood.

    Args:
        patterns: paths with `*` and `?`.
        job: to whom the lines belong; "" means the jobs that run on the node.
        attempt: start number of that job.
        state: where to remember how far the files were read; None forgets it.
        clock: gives Unix seconds.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        *,
        job: str = "",
        attempt: int = 1,
        state: Path | None = None,
        clock: Callable[[], float] = unix_seconds,
    ) -> None:
        self._patterns, self._job, self._attempt = tuple(patterns), job, attempt
        self._state, self._clock, self._zone = state, clock, local_zone()
        self._files: dict[int, _Followed] = {}
        self._saved, self._told = _load(state), set[str]()
        self._news: list[Happening] = []
        self._resting: set[int] = set()
        self._places = self._begin({one.inode: one for one in self._there()})

    def __call__(self) -> Sequence[Finding]:
        """Look once at every file."""
        present = self._present()
        findings: list[Finding] = []
        for inode in [inode for inode in self._files if inode not in present]:
            findings += self._finish(inode)
        for inode, (path, size) in present.items():
            if inode in self._files or self._open(inode, path):
                findings += self._read(inode, size)
        self._save()
        findings = [*_without_floods(findings), *self._unread(), *self._news]
        self._news = []
        return [self._of(finding) for finding in findings]

    def close(self) -> None:
        """Let go of the files."""
        for followed in self._files.values():
            os.close(followed.file)
        self._files = {}

    def _begin(self, there: dict[int, _There]) -> dict[int, _Place]:
        if not self._saved:
            return {inode: _end(one.path, one.size) for inode, one in there.items()}
        kept = self._saved.items()  # the number of a file that is gone may be given to another one any time
        return {inode: place for inode, place in kept if inode in there and place.offset <= there[inode].size}

    def _present(self) -> dict[int, tuple[str, int]]:
        """Give the files to follow; the others rest where they are."""
        there = list(self._there())
        followed = there
        if len(there) > _MOST_FILES:
            followed = sorted(sorted(there, key=lambda one: one.changed)[-_MOST_FILES:], key=lambda one: one.path)
            data: Data = {"level": "warning", "what": "not followed", "files": len(there) - _MOST_FILES}
            self._tell("too many files", data, f"only the {_MOST_FILES} logs that were written last are followed")
        present = {one.inode: (one.path, one.size) for one in followed}
        self._resting = {one.inode for one in there} - present.keys()
        return present

    def _there(self) -> Iterator[_There]:
        for path in sorted({path for pattern in self._patterns for path in glob(pattern, recursive=True)}):
            with contextlib.suppress(OSError):
                state = os.stat(path)
                if stat.S_ISREG(state.st_mode):
                    yield _There(path, state.st_ino, state.st_size, state.st_mtime_ns)

    def _tell(self, what: str, data: Data, text: str) -> None:
        """Tell something once."""
        if what not in self._told:
            self._told.add(what)
            self._news.append(Happening(event="log.line", data=data, text=text))

    def _open(self, inode: int, path: str) -> bool:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except OSError as fault:
            data: Data = {"level": "warning", "what": "cannot be opened", "file": path}
            self._tell(f"cannot open {path}", data, f"{path}: {fault.strerror}")
            return False
        if os.fstat(file).st_ino != inode:
            os.close(file)
            return False  # it was put aside just now; the next look finds both
        place = self._places.get(inode, _Place(path, 0))
        try:
            known = _head(file, place.head[0]) == place.head
        except OSError:
            os.close(file)
            return False
        self._places.pop(inode, None)  # numbers are given out again: it is of this file, and of no later one
        offset, head = (place.offset, place.head) if known else (0, (0, 0))
        self._files[inode] = _Followed(path, file, LogReader(self._zone), offset, head=head)
        return True

    def _read(self, inode: int, size: int) -> list[Finding]:
        followed = self._files[inode]
        findings: list[Finding] = []
        if followed.quiet and size == followed.offset:
            return findings
        if size < followed.offset:
            findings += followed.reader.finish(self._clock())
            followed.reader, followed.offset, followed.head = LogReader(self._zone), 0, (0, 0)  # it was truncated
        chunk = _chunk(followed)
        if chunk:
            followed.quiet = False
            return [*findings, *followed.reader.feed(chunk, self._clock())]
        if not followed.quiet:
            followed.quiet = True
            findings += followed.reader.flush()
        return findings

    def _finish(self, inode: int) -> list[Finding]:
        """Read the rest of a file that has no such name any more, or rests because others are written to."""
        followed = self._files.pop(inode)
        findings: list[Finding] = []
        while chunk := _chunk(followed):
            findings += followed.reader.feed(chunk, self._clock())
        os.close(followed.file)
        if inode in self._resting:
            self._places[inode] = _Place(followed.path, followed.offset, followed.head)
        return [*findings, *followed.reader.finish(self._clock())]

    def _unread(self) -> Iterator[Happening]:
        """Say once for every format that some of its lines cannot be read, with one of them."""
        for file in self._files.values():
            for name, samples in file.reader.samples.items():
                if name not in self._told:
                    self._told.add(name)
                    data = {"level": "info", "what": "cannot be read", "format": name, "file": file.path}
                    yield Happening(event="log.line", data=data, text=samples[0])

    def _of(self, finding: Finding) -> Finding:
        if self._job and isinstance(finding, Sample | Happening | LoggedStep):
            return Of(self._job, self._attempt, finding)
        return finding

    def _save(self) -> None:
        if self._state is None:
            return
        places = {inode: place for inode, place in self._places.items() if inode in self._resting}
        places |= {inode: _Place(file.path, file.offset, file.head) for inode, file in self._files.items()}
        if places != self._saved:
            write_whole(self._state, msgspec.json.encode(places))
            self._saved = places


def _without_floods(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Let the first events of each kind through and count the rest."""
    seen: Counter[str] = Counter()
    for finding in findings:
        if isinstance(finding, Happening):
            seen[finding.event] += 1
            if seen[finding.event] > MOST_OF_A_KIND:
                continue
        yield finding
    for event, count in seen.items():
        if count > MOST_OF_A_KIND:
            data = {"level": "warning", "what": "flood", "event": event, "left_out": count - MOST_OF_A_KIND}
            yield Happening(event="log.line", data=data, text=f"{count} events {event} in one look")


def _chunk(followed: _Followed) -> bytes:
    try:
        chunk = os.pread(followed.file, CHUNK_BYTES, followed.offset)
    except OSError:
        return b""
    followed.offset += len(chunk)
    if chunk and followed.head[0] < _HEAD_BYTES:
        with contextlib.suppress(OSError):
            followed.head = _head(followed.file, min(followed.offset, _HEAD_BYTES))
    return chunk


def _head(file: int, length: int) -> tuple[int, int]:
    """Give the length and the checksum of the beginning of an open file."""
    beginning = os.pread(file, length, 0)
    return len(beginning), zlib.crc32(beginning)


def _end(path: str, size: int) -> _Place:
    """Give the place at the end of a file that is there already."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _Place(path, size)
    try:
        return _Place(path, size, _head(file, min(size, _HEAD_BYTES)))
    finally:
        os.close(file)


def _load(state: Path | None) -> dict[int, _Place]:
    if state is None:
        return {}
    try:
        return msgspec.json.decode(state.read_bytes(), type=dict[int, _Place])
    except (OSError, msgspec.DecodeError):
        return {}
