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
        before: the healthy level; NaN where none was learned.
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
    if np.count_nonzero(np.isinf(row)):
        raise ValueError("row: infinite values belong to the detector `nonfinite`")
    return row


def watch(detector: Detector[M], memory: M, rows: Floats, first: int = 0) -> list[Alarm]:
    """Feed several rows, strictly one after the other.

    Args:
        detector: which looks.
        memory: changed in place.
        rows: shape (rows, series), oldest first.
        first: number of the first row.

    Raises:
        ValueError: as `Detector.update`.
    """
    return [alarm for index, row in enumerate(rows, first) for alarm in detector.update(memory, index, row)]


def grow(detector: Detector[M], memory: M, width: int) -> M:
    """Make a wider memory: more series at the end, the old ones with the future they had.

    Args:
        detector: the detector that made the memory; where its parameters are arrays, one built for the new width.
        memory: left as it is.
        width: number of series wanted, at least the present one.

    Raises:
        ValueError: the memory is wider than that.
    """
    if width < memory.width:
        raise ValueError(f"width: at least {memory.width} expected, not {width}")
    grown = detector.blank(width)
    for name in memory.__struct_fields__:
        old = getattr(memory, name)
        if isinstance(old, np.ndarray):
            getattr(grown, name)[: memory.width] = old
        elif name != "width":
            setattr(grown, name, old)
    return grown


def require(held: bool, parameter: str, wanted: str) -> None:
    """Refuse a parameter when a detector is built.

    Raises:
        ValueError: names the parameter and what was wanted of it.
    """
    if not held:
        raise ValueError(f"{parameter}: {wanted} expected")


def per_series(parameter: str, value: float | Floats) -> Floats:
    """Take a parameter that is one number for all series or an array of one per series; neither negative nor NaN.

    Raises:
        ValueError: names the parameter.
    """
    numbers = np.asarray(value, dtype=np.float64)
    require(numbers.ndim <= 1, parameter, "a number or one per series")
    require(bool((numbers >= 0).all()), parameter, "no negative number and no NaN")
    return numbers


def fits(parameter: str, numbers: Floats, width: int) -> None:
    """Refuse an array parameter that was built for another number of series.

    Raises:
        ValueError: names the parameter.
    """
    require(numbers.ndim == 0 or numbers.shape == (width,), parameter, f"one number or {width}")
