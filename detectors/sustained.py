"""A signal that stays on the wrong side of a fixed limit."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, fits, require


class SustainedMemory(Memory):
    """Per series: the streak over the limit, and how long it has been good since.

    Attributes:
        streak: consecutive rows over the limit.
        calm: consecutive rows on the good side.
        onset: first row of the streak, or of the open episode.
        last: last row over the limit.
        total: sum over the rows that were over the limit since the onset.
        over: how many those were.
        before: last reading on the good side before the onset, NaN where there was none.
        good: last reading on the good side.
        alarmed: True while an episode is open.
    """

    streak: Ints
    calm: Ints
    onset: Ints
    last: Ints
    total: Floats
    over: Ints
    before: Floats
    good: Floats
    alarmed: Flags


class Sustained:
    """Find a signal that was over its limit (or under it) for a number of rows in a row: too hot, throttled, swapping.

    It knows no past: the limit is the whole judgement. One row on the good side begins the count anew.

    Args:
        limit: in the signal's unit; one number, or one per series. The limit itself is on the good side.
        rows: consecutive rows over the limit before the alarm.
        above: True where above the limit is bad, False where below is.
        calm: consecutive rows on the good side that end the episode.

    Input: the signal's unit; NaN = no reading, which neither breaks nor lengthens a streak.
    Output: one alarm, dated to the first row of the streak; `after` is the mean of the rows over the limit, `before`
        the last good reading (NaN where there was none). One with `over` after `calm` good rows, dated to the last bad.
    Cost: O(1) time and nine numbers per series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> sustained = Sustained(limit=85.0, rows=3, calm=2)
    >>> memory = sustained.blank(1)
    >>> celsius = [80.0, 90.0, 84.0, 90.0, 91.0, 92.0, 80.0, 80.0]
    >>> found = [a for i, x in enumerate(celsius) for a in sustained.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, a.before, a.after, a.over) for a in found]
    [(5, 3, 84.0, 91.0, False), (5, 3, 84.0, 91.0, True)]
    """

    name = "sustained"

    def __init__(self, limit: float | Floats, rows: int, above: bool = True, calm: int = 5) -> None:
        self.limit: Floats = np.asarray(limit, dtype=np.float64)
        require(self.limit.ndim <= 1, "limit", "a number or one per series")
        require(bool(np.isfinite(self.limit).all()), "limit", "a finite number")
        require(rows >= 1, "rows", "at least 1")
        require(calm >= 1, "calm", "at least 1")
        self.rows, self.above, self.calm = rows, above, calm

    def blank(self, width: int) -> SustainedMemory:
        """Make the memory of `width` series; refuse an array of limits of another width."""
        fits("limit", self.limit, width)
        return SustainedMemory(
            width=width,
            streak=np.zeros(width, dtype=np.int64),
            calm=np.zeros(width, dtype=np.int64),
            onset=np.zeros(width, dtype=np.int64),
            last=np.zeros(width, dtype=np.int64),
            total=np.zeros(width),
            over=np.zeros(width, dtype=np.int64),
            before=np.full(width, np.nan),
            good=np.full(width, np.nan),
            alarmed=np.zeros(width, dtype=np.bool_),
        )

    def update(self, memory: SustainedMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        bad = row > self.limit if self.above else row < self.limit
        good = ~np.isnan(row) & ~bad
        self._count(memory, index, row, bad, good)
        raised = bad & ~memory.alarmed & (memory.streak >= self.rows)
        ended = good & memory.alarmed & (memory.calm >= self.calm)
        if not (raised | ended).any():
            return []
        memory.alarmed ^= raised | ended
        alarms = [self._alarm(memory, index, int(one), over=False) for one in np.flatnonzero(raised)]
        return alarms + [
            self._alarm(memory, int(memory.last[one]), int(one), over=True) for one in np.flatnonzero(ended)
        ]

    def _count(self, memory: SustainedMemory, index: int, row: Floats, bad: Flags, good: Flags) -> None:
        begins = bad & ~memory.alarmed & (memory.streak == 0)
        np.copyto(memory.onset, index, where=begins)
        np.copyto(memory.before, memory.good, where=begins)
        np.copyto(memory.total, 0.0, where=begins)
        np.copyto(memory.over, 0, where=begins)
        np.copyto(memory.streak, 0, where=good)
        np.copyto(memory.calm, 0, where=bad)
        memory.streak += bad
        memory.calm += good
        np.copyto(memory.last, index, where=bad)
        memory.total += np.where(bad, row, 0.0)
        memory.over += bad
        np.copyto(memory.good, row, where=good)

    def _alarm(self, memory: SustainedMemory, index: int, series: int, over: bool) -> Alarm:
        limit = float(np.broadcast_to(self.limit, memory.width)[series])
        after = float(memory.total[series] / memory.over[series])
        return Alarm(
            series=series,
            index=index,
            onset=int(memory.onset[series]),
            before=float(memory.before[series]),
            after=after,
            limit=limit,
            score=1.0 + abs(after - limit) / max(abs(limit), 1e-9),
            direction=1 if self.above else -1,
            over=over,
            numbers={"rows": float(memory.over[series])},
        )
