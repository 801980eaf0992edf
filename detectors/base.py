"""What a detector is: parameters, a memory that somebody else keeps, and one step from a row of numbers to alarms."""

from typing import Any, Protocol, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Memory(Struct, kw_only=True):
    """What a detector remembers: plain numbers and numpy arrays whose first axis is the series.

    The keeper saves it and may give it back in another process; a restored memory has the same future as the one that
    was saved. `width` is the number of series.
    """

    width: int


M = TypeVar("M", bound=Memory)


class Alarm(Struct, frozen=True, kw_only=True):
    """A finding about one series, in row numbers and in the series' own unit.

    Attributes:
        series: index of the series in the row.
        index: the row with which it was found; nothing after it was known.
        onset: the row it is dated to, at or before `index`.
        before: the healthy level.
        after: the level found.
        limit: what `after` was held against.
        score: no unit; 1.0 is just alarming, more is surer.
        direction: +1 rose, -1 fell, 0 neither.
        over: False when raised or revised, True when the episode has ended (`index` is then its last row).
        kind: a word where a detector finds several kinds of thing (`nan`, `absent`, ...), or "".
        numbers: further figures by name.
    """

    series: int
    index: int
    onset: int
    before: float
    after: float
    limit: float
    score: float = 1.0
    direction: int = 0
    over: bool = False
    kind: str = ""
    numbers: dict[str, float] = {}


class Detector(Protocol[M]):
    """Three members; one detector serves any number of keys, each with its own memory.

    A detector's constructor takes parameters only, checks them and keeps them public.
    """

    @property
    def name(self) -> str:
        """Its name in the catalogue, the name of its file."""
        ...

    def blank(self, width: int) -> M:
        """Make the memory of `width` series that have not been seen yet."""
        ...

    def update(self, memory: M, index: int, row: Floats) -> list[Alarm]:
        """Take one row, change the memory, say what was found.

        Args:
            memory: as made by `blank` or by an earlier update; changed in place.
            index: number of the row; grows, may skip.
            row: shape (series,), the unit of the series; NaN = no reading in this row.

        Raises:
            ValueError: the row has another width than the memory, or holds an infinite value.
        """
        ...


AnyDetector = Detector[Any]  # Any: a catalogue holds detectors of different memories


def check_row(memory: Memory, row: Floats) -> Floats:
    """Refuse a row that would blind a detector for ever: wrong width, or infinite (NaN means no reading).

    Raises:
        ValueError: says which.
    """
    row = np.asarray(row, dtype=np.float64)
    if row.shape != (memory.width,):
        raise ValueError(f"row: shape ({memory.width},) expected, not {row.shape}")
    if np.isinf(row).any():
        raise ValueError("row: infinite values belong to the detector `nonfinite`")
    return row
