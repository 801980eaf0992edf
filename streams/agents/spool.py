"""Records on their way out, on disk while the server is away: bounded, and the least needed are given up first.

SPOOL/000000000012.samples      the records of one stretch of time in three files, so that the samples of an
SPOOL/000000000012.steps        hour ago can be given up without touching the events beside them; each line is
SPOOL/000000000012.events       a ticket, a space and the record, and the tickets restore the order
"""

import fcntl
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from streams.agents.outbox import GIVEN_UP_FIRST, Kind, Parcel

_NAME = re.compile(r"(\d{12})\.(samples|steps|events)")


class _Key(Struct):
    job: str


_key = msgspec.json.Decoder(_Key)


class Stretch(Struct, frozen=True):
    """The records of one stretch of time, in the order in which they were offered."""

    number: int
    parcels: list[Parcel]


class Spool:
    """A folder of records that have not arrived yet.

    A page cache outlives a killed agent, so nothing is forced to the disk: what a crash of the node takes, it takes
    from the ranks' files as well.

    Args:
        folder: made when missing; one agent at a time.
        limit_bytes: size above which records are given up.
        stretch_bytes: size of one stretch, and so of one request.

    Raises:
        OSError: the folder cannot be used.
        BlockingIOError: another agent uses it.
    """

    def __init__(self, folder: Path, limit_bytes: int, stretch_bytes: int = 1 << 18) -> None:
        self._folder, self._limit_bytes, self._stretch_bytes = folder, limit_bytes, stretch_bytes
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise BlockingIOError(f"spool {folder}: another agent uses it") from None
        self._sizes: dict[tuple[int, Kind], int] = self._measure()
        self._current = max((number for number, _ in self._sizes), default=0) + 1

    def close(self) -> None:
        """Leave the folder to the next agent."""
        os.close(self._lock)

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        return sum(self._sizes.values())

    def append(self, parcels: Iterable[Parcel]) -> None:
        """Add records.

        Raises:
            OSError: the disk did not take them all; those that it took may come again.
        """
        stretch: list[Parcel] = []
        room = self._stretch_bytes - self._size(self._current)
        for parcel in parcels:
            if room <= 0:
                self._write(stretch)
                self._current += 1
                stretch, room = [], self._stretch_bytes
            stretch.append(parcel)
            room -= len(parcel.line)
        self._write(stretch)

    def oldest(self) -> Stretch | None:
        """Give the oldest stretch; it stays until it is forgotten, and nothing more is added to it."""
        while self._sizes:
            number = min(number for number, _ in self._sizes)
            self._current = max(self._current, number + 1)
            parcels = sorted(
                (parcel for kind in GIVEN_UP_FIRST for parcel in self._read(number, kind)), key=lambda each: each.ticket
            )
            if parcels:
                return Stretch(number, parcels)
            self.forget(number)
        return None

    def forget(self, number: int) -> None:
        """Remove a stretch that has arrived."""
        for kind in GIVEN_UP_FIRST:
            self._remove(number, kind)

    def give_up(self) -> list[Parcel]:
        """Shrink to the limit: the oldest samples go first, then steps, events last; give them."""
        lost: list[Parcel] = []
        for kind in GIVEN_UP_FIRST:
            for number in sorted(number for number, each in self._sizes if each == kind):
                if self.size_bytes <= self._limit_bytes:
                    return lost
                lost += self._read(number, kind)
                self._remove(number, kind)
        return lost

    def _measure(self) -> dict[tuple[int, Kind], int]:
        sizes: dict[tuple[int, Kind], int] = {}
        for path in self._folder.iterdir():
            if name := _NAME.fullmatch(path.name):
                kind: Kind = next(kind for kind in GIVEN_UP_FIRST if kind == name[2])
                sizes[int(name[1]), kind] = path.stat().st_size
        return sizes

    def _size(self, number: int) -> int:
        return sum(self._sizes.get((number, kind), 0) for kind in GIVEN_UP_FIRST)

    def _path(self, number: int, kind: Kind) -> Path:
        return self._folder / f"{number:012d}.{kind}"

    def _write(self, parcels: Sequence[Parcel]) -> None:
        for kind in GIVEN_UP_FIRST:
            body = b"".join(b"%d %s\n" % (each.ticket, each.line) for each in parcels if each.kind == kind)
            if body:
                self._write_file(kind, body)

    def _write_file(self, kind: Kind, body: bytes) -> None:
        path = self._path(self._current, kind)
        before = self._sizes.get((self._current, kind), 0)
        try:
            with path.open("ab") as file:
                file.write(body)
        except OSError:
            if path.exists():
                os.truncate(path, before)
            raise
        self._sizes[self._current, kind] = before + len(body)

    def _read(self, number: int, kind: Kind) -> list[Parcel]:
        if (number, kind) not in self._sizes:
            return []
        found = (_parcel(kind, raw) for raw in self._path(number, kind).read_bytes().split(b"\n"))
        return [parcel for parcel in found if parcel is not None]

    def _remove(self, number: int, kind: Kind) -> None:
        if self._sizes.pop((number, kind), None) is not None:
            self._path(number, kind).unlink(missing_ok=True)


def _parcel(kind: Kind, raw: bytes) -> Parcel | None:
    """Read a line back; None for the half line that a killed agent left behind."""
    ticket, _, line = raw.partition(b" ")
    try:
        return Parcel(int(ticket), kind, _key.decode(line).job, line)
    except (ValueError, msgspec.DecodeError):
        return None
