"""What must go on from where it was, across restarts too: steps, cursors of the sampler, tokens and samples seen."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, require
from detectors.robust import median, push

KEPT = 32
"""Strides that the usual one is the median of."""
SUREST = 100.0
AHEAD, BACK = "ahead", "back"


class ContinuityMemory(Memory):
    """Per series: where it is, how far it usually goes in a row, and the open episode.

    Attributes:
        last: last reading, NaN before the first.
        index: its row.
        strides: the last strides per row that were in order, a ring, shape (series, kept).
        pushed: how many there ever were.
        onset: row of the open episode, -1 where none is open.
        before: reading that it should have gone on to.
        after: reading it went to.
        limit: the nearest reading that would have been in order.
        off: strides it was off by, negative where it went back.
    """

    last: Floats
    index: Ints
    strides: Floats
    pushed: Ints
    onset: Ints
    before: Floats
    after: Floats
    limit: Floats
    off: Floats


class Continuity:
    """Find data trained twice or never: a cursor that went back, or jumped ahead of where it should be.

    Every series has its own stride, learned from its past. A cursor that falls back repeats what was trained; one that
    jumps skips what was not. Whether that was meant (a restart from a checkpoint goes back by as much as was lost) is
    the keeper's to say.

    Args:
        strides: usual strides of a row that it may be off by, more than 1, or a cursor that hurries would alarm.
        warmup: strides known before the first alarm, at least 2.

    Input: readings that grow by about the same in each row, in any unit; NaN = no reading, whose stride is counted with
        the next one. The index is the step where there is one.
    Output: an alarm of kind `back` or `ahead`; `before` is where it should be, `after` where it is. Numbers: `strides`
        that were repeated or skipped. It is over with the next reading that goes on from there.
    Cost: a sort of 32 numbers per series and row. Memory: 40 numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> continuity = Continuity()
    >>> memory = continuity.blank(1)
    >>> cursor = [512.0 * i for i in range(20)] + [512.0 * i for i in range(15, 25)]
    >>> found = [a for i, x in enumerate(cursor) for a in continuity.update(memory, i, np.array([x]))]
    >>> [(a.index, a.kind, a.before, a.after, a.numbers["strides"]) for a in found if not a.over]
    [(20, 'back', 10240.0, 7680.0, 5.0)]
    """

    name = "continuity"

    def __init__(self, strides: float = 3.0, warmup: int = 8) -> None:
        require(strides > 1, "strides", "more than 1")
        require(2 <= warmup <= KEPT, "warmup", f"2 to {KEPT}")
        self.strides, self.warmup = strides, warmup

    def blank(self, width: int) -> ContinuityMemory:
        """Make the memory of `width` series."""
        return ContinuityMemory(
            width=width,
            last=np.full(width, np.nan),
            index=np.zeros(width, dtype=np.int64),
            strides=np.full((width, KEPT), np.nan),
            pushed=np.zeros(width, dtype=np.int64),
            onset=np.full(width, -1, dtype=np.int64),
            before=np.zeros(width),
            after=np.zeros(width),
            limit=np.zeros(width),
            off=np.zeros(width),
        )

    def update(self, memory: ContinuityMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        known = ~np.isnan(row) & ~np.isnan(memory.last)
        rows = np.maximum(index - memory.index, 1)
        usual = median(memory.strides)
        sure = known & (memory.pushed >= self.warmup) & (usual != 0)
        expected = memory.last + usual * rows
        off = np.where(sure, (row - expected) / np.where(usual != 0, usual, 1.0), 0.0)
        wrong = sure & (np.abs(off) > self.strides)
        alarms = self._end(memory, known & ~wrong & (memory.onset >= 0))
        for one in np.flatnonzero(wrong).tolist():
            if memory.onset[one] >= 0:
                alarms += self._end(memory, np.arange(memory.width) == one)
            alarms.append(self._jumped(memory, index, one, (float(row[one]), float(expected[one]), float(off[one]))))
        self._learn(memory, index, row, rows, known & ~wrong)
        return alarms

    def go_on_from(self, memory: ContinuityMemory, index: int, row: Floats) -> None:
        """Take it that the series stood there: a run that was resumed goes on from its checkpoint, and so repeats rows.

        Args:
            memory: changed in place; an open episode is closed without a word.
            index: row of the readings, which may be one that was seen before.
            row: readings, shape (series,), NaN = not known.

        Raises:
            ValueError: as `update`.
        """
        row = check_row(memory, row)
        given = ~np.isnan(row)
        np.copyto(memory.last, row, where=given)
        np.copyto(memory.index, index, where=given)
        memory.onset[given] = -1

    def _learn(self, memory: ContinuityMemory, index: int, row: Floats, rows: Ints, healthy: Flags) -> None:
        series = np.flatnonzero(healthy)
        push(memory.strides, memory.pushed, series, (row[series] - memory.last[series]) / rows[series])
        memory.pushed[series] += 1
        given = ~np.isnan(row)
        np.copyto(memory.last, row, where=given)
        np.copyto(memory.index, index, where=given)

    def _jumped(self, memory: ContinuityMemory, index: int, one: int, seen: tuple[float, float, float]) -> Alarm:
        value, expected, off = seen
        stride = (value - expected) / off
        memory.onset[one], memory.before[one], memory.after[one] = index, expected, value
        memory.limit[one], memory.off[one] = expected + np.sign(off) * self.strides * stride, off
        return self._alarm(memory, index, one, over=False)

    def _end(self, memory: ContinuityMemory, ended: Flags) -> list[Alarm]:
        alarms = [self._alarm(memory, int(memory.onset[one]), int(one), over=True) for one in np.flatnonzero(ended)]
        memory.onset[ended] = -1
        return alarms

    def _alarm(self, memory: ContinuityMemory, index: int, one: int, over: bool) -> Alarm:
        before, after, limit = (float(field[one]) for field in (memory.before, memory.after, memory.limit))
        off = float(memory.off[one])
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=before,
            after=after,
            limit=limit,
            score=min(max(abs(off) / self.strides, 1.0), SUREST),
            direction=1 if after > before else -1,
            over=over,
            kind=AHEAD if off > 0 else BACK,
            numbers={"strides": abs(off)},
        )
