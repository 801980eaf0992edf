"""What is running out: a signal that creeps towards a limit, and when it will be there."""

import numpy as np

from detectors.base import Alarm, Floats, Ints, Memory, check_row, require
from detectors.robust import median, push

SUREST = 100.0
SLOWING = 3.0
"""Standard errors by which a creep has to slow down to be one that comes to rest."""
STANDING = 0.1
"""Share of the way that is still taken for standing at its beginning."""


class TrendMemory(Memory):
    """Per series: the medians of its last blocks of rows, and the open episode.

    Attributes:
        block: rows of the block that is being filled, shape (series, block).
        numbers: their row numbers, same shape.
        filled: rows in it.
        levels: medians of the last blocks, a ring, shape (series, blocks).
        ends: row with which each of these blocks ended, same shape; of one with a gap in it, where it would have.
        blocks: blocks ever filled.
        onset: row the open episode is dated to, -1 where none is open.
        before: level where the creep began.
        after: level last reported.
        left: rows left to the limit, as last reported.
    """

    block: Floats
    numbers: Ints
    filled: Ints
    levels: Floats
    ends: Ints
    blocks: Ints
    onset: Ints
    before: Floats
    after: Floats
    left: Floats


class Trend:
    """Find a leak long before it hurts: host memory, disk space, a queue that only grows.

    The slope is the median of the slopes between all pairs of blocks, so that neither a jump nor a sawtooth makes one;
    and nearly all of these pairs must agree in which way it goes. What slows down so much that it will stop before the
    limit, as a cache that fills, is no leak.

    Args:
        limit: value that must not be reached, in the signal's unit.
        horizon: rows; a limit that is farther away is no finding.
        block: rows of a block, by whose median it counts.
        blocks: blocks that a slope is taken over, at least 4.
        agreed: share of the pairs of blocks that must go the same way, more than 0.5.
        worth: smallest change over the blocks that is a creep, relative to the distance from the limit.

    Input: any unit; NaN = no reading.
    Output: an alarm when the limit is within the horizon; `before` is the level where the creep began, dated to the
        oldest block of the slope, `after` the level now. Numbers: `rows_left` and `slope` per row. A revision when half
        of the rows that were left are gone; one with `over` when the creep has stopped or turned.
    Cost: O(blocks²) per series every `block` rows, O(1) in between. Memory: `block` + 2 `blocks` numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.
    Source: P. K. Sen, Journal of the American Statistical Association 63 (1968), 1379-1389.

    >>> trend = Trend(limit=0.0, horizon=500)
    >>> memory = trend.blank(1)
    >>> gigabytes = [100.0] * 100 + [100.0 - 0.2 * i for i in range(300)]
    >>> found = [a for i, x in enumerate(gigabytes) for a in trend.update(memory, i, np.array([x]))]
    >>> [(a.index, round(a.numbers["rows_left"]), round(a.numbers["slope"], 1)) for a in found][:1]
    [(189, 415, -0.2)]
    """

    name = "trend"

    def __init__(
        self,
        limit: float = 0.0,
        horizon: int = 2000,
        block: int = 10,
        blocks: int = 12,
        agreed: float = 0.9,
        worth: float = 0.02,
    ) -> None:
        require(bool(np.isfinite(limit)), "limit", "a finite number")
        require(horizon >= 1, "horizon", "at least 1 row")
        require(block >= 2, "block", "at least 2 rows")
        require(blocks >= 4, "blocks", "at least 4")
        require(0.5 < agreed <= 1, "agreed", "more than 0.5, at most 1")
        require(worth > 0, "worth", "more than 0")
        self.limit, self.horizon, self.block, self.blocks = limit, horizon, block, blocks
        self.agreed, self.worth = agreed, worth
        self._older, self._newer = np.triu_indices(blocks, 1)

    def blank(self, width: int) -> TrendMemory:
        """Make the memory of `width` series."""
        return TrendMemory(
            width=width,
            block=np.full((width, self.block), np.nan),
            numbers=np.zeros((width, self.block), dtype=np.int64),
            filled=np.zeros(width, dtype=np.int64),
            levels=np.full((width, self.blocks), np.nan),
            ends=np.zeros((width, self.blocks), dtype=np.int64),
            blocks=np.zeros(width, dtype=np.int64),
            onset=np.full(width, -1, dtype=np.int64),
            before=np.zeros(width),
            after=np.zeros(width),
            left=np.zeros(width),
        )

    def update(self, memory: TrendMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = np.flatnonzero(~np.isnan(row))
        memory.block[given, memory.filled[given]] = row[given]
        memory.numbers[given, memory.filled[given]] = index
        memory.filled[given] += 1
        full = given[memory.filled[given] == self.block]
        if not full.size:
            return []
        memory.filled[full] = 0
        push(memory.levels, memory.blocks, full, median(memory.block[full]))
        low, high = (memory.numbers[full, place] for place in ((self.block - 1) // 2, self.block // 2))
        push(memory.ends, memory.blocks, full, (low + high + self.block - 1) // 2)  # the median is that of its middle
        memory.blocks[full] += 1
        return self._judge(memory, index, full[memory.blocks[full] >= self.blocks])

    def _judge(self, memory: TrendMemory, index: int, series: Ints) -> list[Alarm]:
        columns = (memory.blocks[series, None] + np.arange(self.blocks)) % self.blocks
        levels, ends = memory.levels[series[:, None], columns], memory.ends[series[:, None], columns]
        rises = levels[:, self._newer] - levels[:, self._older]
        slope = median(rises / np.maximum(ends[:, self._newer] - ends[:, self._older], 1))
        alarms = []
        for place, one in enumerate(series.tolist()):
            level, towards = float(levels[place, -1]), np.sign(self.limit - float(levels[place, -1]))
            agree = float((np.sign(rises[place]) == towards).mean()) if towards else 0.0
            far = abs(self.limit - level)
            crept = abs(float(slope[place])) * float(ends[place, -1] - ends[place, 0]) >= self.worth * far
            left = far / abs(float(slope[place])) if slope[place] * towards > 0 else np.inf
            near = left <= (2 if memory.onset[one] >= 0 else 1) * self.horizon
            creeping = agree >= self.agreed and crept and near
            creeping = creeping and not comes_to_rest(ends[place], np.abs(self.limit - levels[place]))
            if creeping:
                alarms += self._creeps(memory, index, one, (levels[place], ends[place], left, float(slope[place])))
            elif memory.onset[one] >= 0:
                alarms.append(self._alarm(memory, index, one, float(slope[place]), over=True))
                memory.onset[one] = -1
        return alarms

    def _creeps(
        self, memory: TrendMemory, index: int, one: int, seen: tuple[Floats, Ints, float, float]
    ) -> list[Alarm]:
        levels, ends, left, slope = seen
        opened = memory.onset[one] < 0
        if opened:
            memory.onset[one], memory.before[one] = ends[0], levels[0]
        memory.after[one] = levels[-1]
        if not opened and left > memory.left[one] / 2:
            return []
        memory.left[one] = left
        return [self._alarm(memory, index, one, slope, over=False)]

    def _alarm(self, memory: TrendMemory, index: int, one: int, slope: float, over: bool) -> Alarm:
        left = float(memory.left[one])
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=float(memory.before[one]),
            after=float(memory.after[one]),
            limit=self.limit,
            score=min(max(self.horizon / max(left, 1.0), 1.0), SUREST),
            direction=int(np.sign(memory.after[one] - memory.before[one])),
            over=over,
            numbers={"rows_left": left, "slope": slope},
        )


def comes_to_rest(rows: Ints, far: Floats) -> bool:
    """Tell whether a way towards a limit slows down so surely and so much that it will end before the limit.

    A parabola through what is left, from where it was farthest; an exponential goes about twice as far as the parabola
    that touches it, so that is allowed for.

    Args:
        rows: row numbers, growing.
        far: distances from the limit in these rows.

    >>> rows = np.arange(12)
    >>> comes_to_rest(rows, 100.0 - 2.0 * rows), comes_to_rest(rows, 70.0 + 30.0 * np.exp(-rows / 6.0))
    (False, True)
    """
    begun = np.flatnonzero(far >= far.max() - STANDING * (far.max() - far.min()))
    begin = min(int(begun[-1]), far.size - 4)
    x, y = (rows[begin:] - rows[-1]) / max(int(rows[-1] - rows[begin]), 1), far[begin:] / float(far.max())
    terms = np.vander(x, 3)
    bend, slope, level = np.linalg.lstsq(terms, y, rcond=None)[0]
    if bend <= 0:
        return False
    rest = y - terms @ np.array([bend, slope, level])
    error = np.sqrt(float(rest @ rest) / (y.size - 3) * np.linalg.inv(terms.T @ terms)[0, 0])
    return bool(2 * min(slope, 0.0) ** 2 / (4 * bend) < level and bend > SLOWING * error)
