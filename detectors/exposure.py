"""What the model is shown, held against the recipe: shares of sources and lengths, and of samples nobody could read."""

import numpy as np

from detectors.base import Alarm, Floats, Ints, Memory, check_row, fits, per_series, require
from detectors.robust import latest_columns, median, push

SPANS = (1, 3, 10)
"""Blocks that are judged together: a large deviation is told early, a small one when it has lasted."""
FEWEST = 4
"""Blocks known before the first alarm, or by which their spread cannot be told."""
SUREST = 100.0


class ExposureMemory(Memory):
    """Per series: the means of its last blocks, and the open episode.

    Attributes:
        filled: rows in the block that is being filled.
        total: sum of these rows.
        begun: row with which that block began.
        means: of the last blocks, a ring, shape (series, blocks).
        begins: rows with which they began, same shape.
        blocks: blocks ever filled.
        judged: the block from which on they are judged: those of an episode that is over do not raise it again.
        recipe: share that is held against; NaN while it is being learned.
        shown: sum of all rows; `rows` is their number.
        onset: row the open episode is dated to, -1 where none is open.
        reported: share last reported.
        limit: share that was passed.
    """

    filled: Ints
    total: Floats
    begun: Ints
    means: Floats
    begins: Ints
    blocks: Ints
    judged: Ints
    recipe: Floats
    shown: Floats
    rows: Ints
    onset: Ints
    reported: Floats
    limit: Floats


class Exposure:
    """Find data that are not mixed as they should be: a source that is shown too rarely, buckets that are empty.

    A batch is a draw, so single steps say little: the mean of one, three or ten blocks of steps must be off by what is
    worth an alarm, and by more than the draws explain. Where no recipe is given, the first ten blocks are it.

    Args:
        recipe: the share that is planned; one number, or one per series; NaN = learned.
        worth: smallest deviation worth an alarm, in shares of all data.
        relative: the same in shares of the recipe; both have to be passed.
        block: steps of a block.
        sure: standard errors by which the draws have to be passed.

    Input: shares per step, 0..1; NaN = not told.
    Output: an alarm dated to the first step of the first block concerned, or into it, where it is off by less than the
        blocks after it; `before` is the recipe and `after` the share since. Numbers: `so_far`, the share of everything
        that was shown. A revision when the deviation has grown by half; one with `over` when three blocks together are
        back.
    Cost: a few numbers per step, some forty numbers per series every `block` steps.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> exposure = Exposure(recipe=0.5)
    >>> memory = exposure.blank(1)
    >>> shares = [0.5] * 100 + [0.35] * 60
    >>> found = [a for i, x in enumerate(shares) for a in exposure.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, a.before, round(a.after, 2)) for a in found]
    [(119, 100, 0.5, 0.35)]
    """

    name = "exposure"

    def __init__(
        self,
        recipe: float | Floats = np.nan,
        worth: float = 0.02,
        relative: float = 0.1,
        block: int = 20,
        sure: float = 5.0,
    ) -> None:
        self.recipe = np.asarray(recipe, dtype=np.float64)
        per_series("recipe", np.nan_to_num(self.recipe))
        require(0 < worth < 1, "worth", "more than 0, less than 1")
        require(relative >= 0, "relative", "no negative share")
        require(block >= 2, "block", "at least 2 steps")
        require(sure > 0, "sure", "more than 0")
        self.worth, self.relative, self.block, self.sure = worth, relative, block, sure

    def blank(self, width: int) -> ExposureMemory:
        """Make the memory of `width` series; refuse a recipe of another width."""
        fits("recipe", self.recipe, width)
        return ExposureMemory(
            width=width,
            filled=np.zeros(width, dtype=np.int64),
            total=np.zeros(width),
            begun=np.zeros(width, dtype=np.int64),
            means=np.full((width, SPANS[-1]), np.nan),
            begins=np.zeros((width, SPANS[-1]), dtype=np.int64),
            blocks=np.zeros(width, dtype=np.int64),
            judged=np.zeros(width, dtype=np.int64),
            recipe=np.array(np.broadcast_to(self.recipe, width)),
            shown=np.zeros(width),
            rows=np.zeros(width, dtype=np.int64),
            onset=np.full(width, -1, dtype=np.int64),
            reported=np.zeros(width),
            limit=np.zeros(width),
        )

    def update(self, memory: ExposureMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = ~np.isnan(row)
        share = np.where(given, row, 0.0)
        memory.begun = np.where(given & (memory.filled == 0), index, memory.begun)
        memory.total += share
        memory.shown += share
        memory.filled += given
        memory.rows += given
        full = np.flatnonzero(given & (memory.filled == self.block))
        if not full.size:
            return []
        push(memory.means, memory.blocks, full, memory.total[full] / self.block)
        push(memory.begins, memory.blocks, full, memory.begun[full])
        memory.blocks[full] += 1
        memory.filled[full], memory.total[full] = 0, 0.0
        self._learn(memory, full)
        return [alarm for one in full.tolist() for alarm in self._judge(memory, index, one)]

    def _learn(self, memory: ExposureMemory, full: Ints) -> None:
        ready = full[np.isnan(memory.recipe[full]) & (memory.blocks[full] >= SPANS[-1])]
        memory.recipe[ready] = median(memory.means[ready])

    def _judge(self, memory: ExposureMemory, index: int, one: int) -> list[Alarm]:
        count = min(int(memory.blocks[one] - memory.judged[one]), SPANS[-1])
        recipe = float(memory.recipe[one])
        if np.isnan(recipe) or count < FEWEST:
            return []
        columns = latest_columns(SPANS[-1], memory.blocks[one, None], count)[0]
        off = memory.means[one, columns] - recipe
        limit = max(self.worth, self.relative * recipe)
        if memory.onset[one] >= 0:
            return self._follow(memory, index, one, (off, limit))
        error = float(np.median(np.abs(np.diff(off)))) / 0.954  # of two blocks' difference, over the root of two
        for span in (each for each in SPANS if each <= count):
            mean = float(off[-span:].mean())
            if abs(mean) >= limit and abs(mean) > self.sure * error / np.sqrt(span):
                gain = np.cumsum((np.sign(mean) * off - limit / 2)[::-1])[::-1]
                since = int(np.argmax(gain))
                memory.onset[one] = _onset(memory.begins[one, columns[since:]], off[since:])
                memory.limit[one] = recipe + np.sign(mean) * limit
                memory.reported[one] = recipe + float(off[since:].mean())
                return [self._alarm(memory, index, one, over=False)]
        return []

    def _follow(self, memory: ExposureMemory, index: int, one: int, seen: tuple[Floats, float]) -> list[Alarm]:
        off, limit = seen
        mean = float(off[-SPANS[1] :].mean())
        recipe = float(memory.recipe[one])
        if abs(mean) < limit / 2:
            alarm = self._alarm(memory, index, one, over=True)
            memory.onset[one] = -1
            memory.judged[one] = memory.blocks[one] - SPANS[1]
            return [alarm]
        reported = float(memory.reported[one]) - recipe
        if mean * reported > 0 and abs(mean) >= 1.5 * abs(reported):
            memory.reported[one] = recipe + mean
            return [self._alarm(memory, index, one, over=False)]
        return []

    def _alarm(self, memory: ExposureMemory, index: int, one: int, over: bool) -> Alarm:
        recipe, share, limit = (float(each[one]) for each in (memory.recipe, memory.reported, memory.limit))
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=recipe,
            after=share,
            limit=limit,
            score=min(max(abs(share - recipe) / max(abs(limit - recipe), 1e-12), 1.0), SUREST),
            direction=1 if share > recipe else -1,
            over=over,
            numbers={"so_far": float(memory.shown[one] / max(int(memory.rows[one]), 1))},
        )


def _onset(begins: Ints, off: Floats) -> int:
    """Date a change within the first block concerned: what it is off by tells how much of it came after.

    Args:
        begins: first rows of the blocks concerned.
        off: what their means are off by, same shape.
    """
    if begins.size == 1:
        return int(begins[0])
    after = float(np.clip(off[0] / off[1:].mean(), 0.0, 1.0)) if off[1:].mean() else 1.0
    return int(begins[0] + (begins[1] - begins[0]) * (1.0 - after))
