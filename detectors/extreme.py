"""Values that a series has never shown, alone or as the mean of its last rows."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, require
from detectors.robust import push

LEAST_RANGE = 1e-9
"""Share of the level that the range is believed to be, at least."""
BRIDGED = 2
"""Missing rows in a row over which means are taken all the same."""
SUREST = 100.0


class ExtremeMemory(Memory):
    """Per series: its last rows, the range of each mean so far, and the open episode.

    Attributes:
        latest: the last rows, a ring, shape (series, longest span).
        given: finite rows ever seen.
        newest: number of the last of them, -1 before the first.
        unbroken: how many of them have come since the last gap.
        sums: sum over the last rows, shape (series, spans).
        lowest: smallest mean so far, same shape; NaN before the first.
        highest: largest mean so far, likewise.
        beyond: how far the last row went beyond, a share of the range; 0 = within.
        held: rows since the open episode last went beyond; -1 where none is open.
        onset: first row of it.
        last: its last row that was beyond.
        before: the old extreme that was passed.
        after: the farthest mean so far.
        score: the farthest it went beyond, in margins.
        direction: +1 or -1.
    """

    latest: Floats
    given: Ints
    newest: Ints
    unbroken: Ints
    sums: Floats
    lowest: Floats
    highest: Floats
    beyond: Floats
    held: Ints
    onset: Ints
    last: Ints
    before: Floats
    after: Floats
    score: Floats
    direction: Ints


class Extreme:
    """Find what a series has never done: a value, or a mean of its last rows, beyond all that came before.

    Nothing is assumed of the series. A pattern, however wild, is within its own range once it has been seen; a mean
    over more rows has a smaller range, so a slight change that lasts goes beyond it as a great one does at once. It
    does not find a missing peak, nor anything that has happened before; a series that climbs for ever is always new.

    Args:
        margin: how far beyond the range so far is new, as a share of that range.
        spans: rows that the means are taken over.
        warmup: means known before the first alarm.
        hold: rows within the range after which an episode is over.
        believed: share of the range by which one row may widen it, so that one blunder does not blind for ever.

    Input: any unit; NaN = no reading.
    Output: an alarm with the first row beyond, `before` the old extreme and `after` the new one; a revision when it
        went beyond half as far again; one with `over`, dated to the last row that was beyond, after `hold` rows.
    Cost: O(spans), 0.2 µs per series and row for 10,000 series. Memory: 90 numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> extreme = Extreme(spans=(1,), warmup=30, hold=3)
    >>> memory = extreme.blank(1)
    >>> rows = [float(i % 7) for i in range(90)]
    >>> rows[70] = 9.0
    >>> found = [a for i, x in enumerate(rows) for a in extreme.update(memory, i, np.array([x]))]
    >>> [(a.index, a.before, a.after, a.over) for a in found]
    [(70, 6.0, 9.0, False), (70, 6.0, 9.0, True)]
    """

    name = "extreme"

    def __init__(
        self,
        margin: float = 0.02,
        spans: tuple[int, ...] = (1, 4, 16, 64),
        warmup: int = 100,
        hold: int = 30,
        believed: float = 0.5,
    ) -> None:
        require(margin > 0, "margin", "more than 0")
        require(bool(spans) and min(spans) >= 1, "spans", "numbers of rows, at least 1,")
        require(warmup >= 2, "warmup", "at least 2")
        require(hold >= 1, "hold", "at least 1")
        require(believed > margin, "believed", "more than `margin`")
        self.margin, self.spans, self.warmup, self.hold, self.believed = margin, spans, warmup, hold, believed
        self._rows = np.array(spans)

    def blank(self, width: int) -> ExtremeMemory:
        """Make the memory of `width` series."""
        spans = len(self.spans)
        return ExtremeMemory(
            width=width,
            latest=np.zeros((width, max(self.spans))),
            given=np.zeros(width, dtype=np.int64),
            newest=np.full(width, -1, dtype=np.int64),
            unbroken=np.zeros(width, dtype=np.int64),
            sums=np.zeros((width, spans)),
            lowest=np.full((width, spans), np.nan),
            highest=np.full((width, spans), np.nan),
            beyond=np.zeros(width),
            held=np.full(width, -1, dtype=np.int64),
            onset=np.zeros(width, dtype=np.int64),
            last=np.zeros(width, dtype=np.int64),
            before=np.zeros(width),
            after=np.zeros(width),
            score=np.zeros(width),
            direction=np.zeros(width, dtype=np.int64),
        )

    def grade(self, memory: ExtremeMemory) -> Floats:
        """Say how new the last row was, 0..1 per series: 0 within the range, from 0.5 on an alarm.

        While an episode is open only the rows that open or revise it are graded: one finding is told once.
        """
        told = (memory.held < 0) | ((memory.held == 0) & (memory.onset == memory.last))
        return np.where(told, memory.beyond / (memory.beyond + self.margin), 0.0)

    def update(self, memory: ExtremeMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = ~np.isnan(row)
        self._follow(memory, index, np.flatnonzero(given))
        means = self._means(memory, row, np.flatnonzero(given))
        low, high = memory.lowest, memory.highest
        width = np.maximum(high - low, LEAST_RANGE * np.abs(means))
        width = np.where(width > 0, width, 1.0)
        known = memory.given[:, None] > self.warmup + self._rows
        over = np.where(known, np.maximum(means - high, low - means) / width, 0.0)
        over = np.where(given[:, None] & (over > 0), over, 0.0)
        self._widen(memory, means, np.where(known, self.believed * width, np.inf))
        span = np.argmax(over, axis=1)
        memory.beyond[:] = np.take_along_axis(over, span[:, None], axis=1)[:, 0]
        new = memory.beyond >= self.margin
        if not (new.any() or (memory.held >= 0).any()):
            return []
        alarms = self._close(memory, given & ~new)
        for one in np.flatnonzero(new):
            place = int(span[one])
            mean, bounds = float(means[one, place]), (float(low[one, place]), float(high[one, place]))
            alarms += self._new(memory, index, int(one), mean, bounds)
        return alarms

    def _follow(self, memory: ExtremeMemory, index: int, given: Ints) -> None:
        """Count the rows since the last gap: a mean over both sides of one is none of what was seen before."""
        newest = memory.newest[given]
        gap = (newest >= 0) & (index - newest > 1 + BRIDGED)
        memory.unbroken[given] = np.where(gap, 0, memory.unbroken[given]) + 1
        memory.newest[given] = index

    def _means(self, memory: ExtremeMemory, row: Floats, given: Ints) -> Floats:
        """Take the row in, and give the mean over each span; NaN before there are so many rows."""
        size, pushed = memory.latest.shape[1], memory.given[given]
        gone = memory.latest[given[:, None], (pushed[:, None] - self._rows) % size]
        memory.sums[given] += row[given, None] - np.where(pushed[:, None] >= self._rows, gone, 0.0)
        push(memory.latest, memory.given, given, row[given])
        memory.given[given] += 1
        full = given[memory.given[given] % size == 0]  # sums afresh, so that nothing is left of a huge value
        for place, span in enumerate(self.spans):
            memory.sums[full, place] = memory.latest[full, size - span :].sum(axis=1)
        means: Floats = np.where(memory.unbroken[:, None] >= self._rows, memory.sums / self._rows, np.nan)
        means[np.isnan(row)] = np.nan
        return means

    def _widen(self, memory: ExtremeMemory, means: Floats, most: Floats) -> None:
        low, high = memory.lowest, memory.highest
        memory.highest = np.where(np.isnan(means), high, np.fmax(high, np.fmin(means, high + most)))
        memory.lowest = np.where(np.isnan(means), low, np.fmin(low, np.fmax(means, low - most)))

    def _new(
        self, memory: ExtremeMemory, index: int, one: int, mean: float, bounds: tuple[float, float]
    ) -> list[Alarm]:
        """Open an episode, or carry it on; say so when it is opened or went beyond half as far again."""
        opened, score = memory.held[one] < 0, float(memory.beyond[one]) / self.margin
        memory.held[one], memory.last[one] = 0, index
        if opened:
            rose = mean > bounds[1]
            memory.onset[one], memory.direction[one] = index, 1 if rose else -1
            memory.before[one] = bounds[1] if rose else bounds[0]
        elif score < 1.5 * memory.score[one]:
            return []
        memory.after[one], memory.score[one] = mean, score
        return [self._alarm(memory, index, one, over=False)]

    def _close(self, memory: ExtremeMemory, within: Flags) -> list[Alarm]:
        memory.held += within & (memory.held >= 0)
        ended = np.flatnonzero(memory.held >= self.hold)
        alarms = [self._alarm(memory, int(memory.last[one]), int(one), over=True) for one in ended]
        memory.held[ended] = -1
        return alarms

    def _alarm(self, memory: ExtremeMemory, index: int, one: int, over: bool) -> Alarm:
        before = float(memory.before[one])
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=before,
            after=float(memory.after[one]),
            limit=before,
            score=min(max(float(memory.score[one]), 1.0), SUREST),
            direction=int(memory.direction[one]),
            over=over,
        )
