"""Readings that are no numbers: NaN, infinite, or not there at all."""

import math

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, require

FINITE, ABSENT, NAN, RISING, FALLING = 0.0, 1.0, 2.0, 3.0, 4.0
"""The marks that make a row: a number; no reading; not a number; plus infinity; minus infinity."""
KINDS = ("", "absent", "nan", "inf", "-inf")
KNOWN = 10
"""Finite marks before a series is known to be there regularly."""
FADING = 0.98
"""A gap counts a little less with each finite mark after it."""


def mark(reading: float | None) -> float:
    """Turn a reading into the mark that this detector takes.

    >>> [mark(x) for x in (2.5, None, math.nan, math.inf, -math.inf)]
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    if reading is None:
        return ABSENT
    if math.isnan(reading):
        return NAN
    if math.isinf(reading):
        return RISING if reading > 0 else FALLING
    return FINITE


class NonFiniteMemory(Memory):
    """Per series: what it usually does, and the open episode.

    Attributes:
        finite: finite marks ever seen.
        gap: rows that the series usually stays away, fading.
        away: consecutive rows without a reading.
        since: row in which that began.
        kind: mark of the open episode; 0 where none is open.
        onset: first row of the open episode.
        last: its last row so far.
        rows: rows of it so far that were not finite.
    """

    finite: Ints
    gap: Floats
    away: Ints
    since: Ints
    kind: Ints
    onset: Ints
    last: Ints
    rows: Ints


class NonFinite:
    """Find readings that are NaN or infinite, at once, and series that have stopped reporting.

    Absence counts only for a series that was regularly there, and is judged by its own habit: one that comes every
    tenth row may stay away ten times as long as one that comes in every row. Who never reported is not missed.

    Args:
        patience: consecutive rows without a reading, where the series usually has one in each, before the alarm.

    Input: marks, not values: `mark(reading)` makes them. NaN = this row says nothing about the series.
    Output: an alarm of kind `nan`, `inf`, `-inf` or `absent`; `before` is the mark of a number, `after` the mark found.
        One with `over` at the next finite mark; its row is the last one that was not finite.
    Cost: O(1) time and eight numbers per series.
    Raises: ValueError for a parameter out of range (when built), for a row of another width, or for what is no mark.

    >>> nonfinite = NonFinite()
    >>> memory = nonfinite.blank(1)
    >>> readings = [1.0, math.nan, math.nan, 1.0] + [1.0] * 10 + [None] * 4
    >>> found = [a for i, x in enumerate(readings) for a in nonfinite.update(memory, i, np.array([mark(x)]))]
    >>> [(a.kind, a.index, a.onset, a.over) for a in found]
    [('nan', 1, 1, False), ('nan', 2, 1, True), ('absent', 16, 14, False)]
    """

    name = "nonfinite"

    def __init__(self, patience: int = 3) -> None:
        require(patience >= 1, "patience", "at least 1")
        self.patience = patience

    def blank(self, width: int) -> NonFiniteMemory:
        """Make the memory of `width` series."""
        return NonFiniteMemory(
            width=width,
            finite=np.zeros(width, dtype=np.int64),
            gap=np.zeros(width),
            away=np.zeros(width, dtype=np.int64),
            since=np.zeros(width, dtype=np.int64),
            kind=np.zeros(width, dtype=np.int64),
            onset=np.zeros(width, dtype=np.int64),
            last=np.zeros(width, dtype=np.int64),
            rows=np.zeros(width, dtype=np.int64),
        )

    def update(self, memory: NonFiniteMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row of marks, see `Detector.update`."""
        row = check_row(memory, row)
        here, absent, broken = row == FINITE, row == ABSENT, (row >= NAN) & (row <= FALLING) & (row % 1 == 0)
        if (~(here | absent | broken | np.isnan(row))).any():
            raise ValueError("row: marks 0 to 4 expected, made by `mark`")
        alarms = self._end(memory, here & (memory.kind > 0)) if memory.kind.any() else []
        self._learn(memory, here, broken)
        np.copyto(memory.since, index, where=absent & (memory.away == 0))
        memory.away += absent
        missed = absent & (memory.finite >= KNOWN) & (memory.away >= self._allowed(memory))
        raised = (broken | missed) & (memory.kind == 0)
        self._open(memory, index, row, raised)
        np.copyto(memory.last, index, where=(absent | broken) & (memory.kind > 0))
        memory.rows += (absent | broken) & (memory.kind > 0) & ~raised
        return alarms + [self._alarm(memory, index, int(series), over=False) for series in np.flatnonzero(raised)]

    def _allowed(self, memory: NonFiniteMemory) -> Floats:
        """Rows a series may stay away: `patience` times its habit."""
        return self.patience * (1.0 + np.ceil(memory.gap - 0.5))

    def _learn(self, memory: NonFiniteMemory, here: Flags, broken: Flags) -> None:
        """Note how long those that are back were away.

        A long absence teaches no more than twice what was allowed: one outage must not make the next one invisible,
        and a series that now comes less often is still understood after a few alarms.
        """
        back = np.minimum(memory.away, 2 * self._allowed(memory))
        np.copyto(memory.gap, np.maximum(memory.gap * FADING, back), where=here)
        memory.finite += here
        np.copyto(memory.away, 0, where=here | broken)

    def _open(self, memory: NonFiniteMemory, index: int, row: Floats, raised: Flags) -> None:
        if not raised.any():
            return
        np.copyto(memory.kind, np.nan_to_num(row).astype(np.int64), where=raised)
        np.copyto(memory.onset, np.where(row == ABSENT, memory.since, index), where=raised)
        np.copyto(memory.rows, np.where(row == ABSENT, memory.away, 1), where=raised)

    def _end(self, memory: NonFiniteMemory, ended: Flags) -> list[Alarm]:
        alarms = [self._alarm(memory, int(memory.last[one]), int(one), over=True) for one in np.flatnonzero(ended)]
        np.copyto(memory.kind, 0, where=ended)
        return alarms

    def _alarm(self, memory: NonFiniteMemory, index: int, series: int, over: bool) -> Alarm:
        kind = int(memory.kind[series])
        return Alarm(
            series=series,
            index=index,
            onset=int(memory.onset[series]),
            before=FINITE,
            after=float(kind),
            limit=float(self._allowed(memory)[series]) if kind == ABSENT else 1.0,
            direction={int(RISING): 1, int(FALLING): -1}.get(kind, 0),
            over=over,
            kind=KINDS[kind],
            numbers={"rows": float(memory.rows[series])},
        )
