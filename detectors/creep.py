"""A signal that was level and now goes up or down, a little with every row."""

from typing import NamedTuple

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, fits, per_series, require
from detectors.robust import latest_columns, median, push

NEWEST = 3
"""Blocks by which it is judged where a series stands now."""
UNUSUAL = 2.0
"""A rise must be so many times the whole range of the blocks before it."""
ROUGH = 0.12
"""Standard deviation of the blocks about the line, as a share of the rise, up to which it is one."""
LIKELIER = 0.5
"""The line must leave so much less than a single step would, both squared."""
BACK, FARTHER = 0.5, 1.5
"""Share of the rise at which an episode is over, and from which on it is told again."""
SUREST = 100.0


class CreepMemory(Memory):
    """Per series: the block that is being filled, the levels of those that are, and the open episode.

    Attributes:
        block: rows of the block that is being filled, shape (series, rows of one).
        begun: row number of its first one.
        filled: how many it has.
        levels: medians of the last blocks, a ring, shape (series, blocks).
        rows: number of the first row of each, same shape.
        blocks: blocks ever filled.
        onset: row from which on it creeps; -1 where it does not.
        before: level before that.
        after: level last reported.
    """

    block: Floats
    begun: Ints
    filled: Ints
    levels: Floats
    rows: Ints
    blocks: Ints
    onset: Ints
    before: Floats
    after: Floats


class _Bend(NamedTuple):
    """A level and a line from its end: place of the bend, the level, and how far the line has come."""

    place: int
    level: float
    rise: float


class Creep:
    """Find a slow ramp that begins on a level: each row moves less than its noise, and all together do not.

    Rows are taken in blocks, by their medians. To the last blocks a level is fitted with a line from its end. It is a
    ramp when the line has come far enough, further than twice the range of all the blocks before, when the blocks lie
    close to it and nearly all later ones beyond the earlier ones, and when a single step explains them far worse. The
    level has to have lasted as long as the ramp: what has always been going up by plan is silent, and so is what waves.

    Args:
        worth: smallest relative change worth an alarm, 0.06 is 6 %; one number, or one per series.
        floor: smallest absolute change worth an alarm, in the signal's unit; likewise. The larger of both counts.
        block: rows of which a median is taken, at least 2.
        head: blocks that have to be level before the ramp, at least 5.
        ramp: blocks that it has to have gone on for, at least 5.
        blocks: looked at, more than `head` and `ramp`.
        agreed: share of all pairs of blocks of the ramp in which the later one is beyond, more than 0.5.

    Input: the signal's unit, NaN = no reading. A row that must neither teach nor alarm is fed as NaN.
    Output: an alarm when a ramp is found, dated to the block in which it begins, `before` being the level there; a
        revision when it has come half as far again; one with `over` when it is back half-way. After a change that is
        there to stay, call `relearn`.
    Cost: O(1) per series and row, 0.06 µs over many; where one has left its level a fit of 0.2 ms with every block.
        Memory: 2 `blocks` + 2 `block` numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> creep = Creep()
    >>> memory = creep.blank(1)
    >>> rows = [2.0] * 300 + [2.0 + 0.001 * i for i in range(300)]
    >>> [(a.index, a.onset, a.before, round(a.after, 2))
    ...  for i, x in enumerate(rows) for a in creep.update(memory, i, np.array([x]))]
    [(439, 300, 2.0, 2.12), (509, 300, 2.0, 2.19)]
    """

    name = "creep"

    def __init__(
        self,
        worth: float | Floats = 0.06,
        floor: float | Floats = 0.0,
        block: int = 10,
        head: int = 15,
        ramp: int = 10,
        blocks: int = 100,
        agreed: float = 0.85,
    ) -> None:
        self.worth, self.floor = per_series("worth", worth), per_series("floor", floor)
        require(block >= 2, "block", "at least 2 rows")
        require(head >= 5, "head", "at least 5 blocks")
        require(ramp >= 5, "ramp", "at least 5 blocks")
        require(blocks > head + ramp, "blocks", "more than `head` and `ramp`")
        require(0.5 < agreed <= 1, "agreed", "more than 0.5, at most 1")
        self.block, self.head, self.ramp, self.blocks, self.agreed = block, head, ramp, blocks, agreed

    def blank(self, width: int) -> CreepMemory:
        """Make the memory of `width` series; refuse `worth` or `floor` arrays of another width."""
        fits("worth", self.worth, width)
        fits("floor", self.floor, width)
        return CreepMemory(
            width=width,
            block=np.full((width, self.block), np.nan),
            begun=np.zeros(width, dtype=np.int64),
            filled=np.zeros(width, dtype=np.int64),
            levels=np.full((width, self.blocks), np.nan),
            rows=np.zeros((width, self.blocks), dtype=np.int64),
            blocks=np.zeros(width, dtype=np.int64),
            onset=np.full(width, -1, dtype=np.int64),
            before=np.zeros(width),
            after=np.zeros(width),
        )

    def relearn(self, memory: CreepMemory, series: Flags | None = None) -> None:
        """Forget what came before, after an announced change; an open episode is dropped without a closing alarm.

        Args:
            memory: changed in place.
            series: True for the series concerned; None for all.
        """
        chosen = np.ones(memory.width, dtype=np.bool_) if series is None else series
        blank = self.blank(memory.width)
        for name in memory.__struct_fields__:
            if name != "width":
                getattr(memory, name)[chosen] = getattr(blank, name)[chosen]

    def update(self, memory: CreepMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = np.flatnonzero(~np.isnan(row))
        memory.begun[given] = np.where(memory.filled[given] == 0, index, memory.begun[given])
        memory.block[given, memory.filled[given]] = row[given]
        memory.filled[given] += 1
        full = given[memory.filled[given] == self.block]
        if not full.size:
            return []
        memory.filled[full] = 0
        push(memory.levels, memory.blocks, full, median(memory.block[full]))
        push(memory.rows, memory.blocks, full, memory.begun[full])
        memory.blocks[full] += 1
        going = memory.onset[full] >= 0
        alarms = [alarm for one in full[going].tolist() for alarm in self._follow(memory, index, one)]
        for one, needed in self._away(memory, full[~going]):
            alarms += self._judge(memory, index, one, needed)
        return alarms

    def moved(self, memory: CreepMemory, series: int, since: int) -> float:
        """Give the relative change of a series' newest blocks against those that began before a row; NaN if unknown."""
        levels, rows = self._last(memory, series)
        before = levels[rows < since]
        if not before.size:
            return float("nan")
        usual = float(np.median(before))
        return float(np.median(levels[-NEWEST:])) / usual - 1 if usual else float("nan")

    def _last(self, memory: CreepMemory, series: int) -> tuple[Floats, Ints]:
        """Give the levels of the last blocks and their first rows, oldest first."""
        count = min(int(memory.blocks[series]), self.blocks)
        columns = (memory.blocks[series] - count + np.arange(count)) % self.blocks
        return memory.levels[series, columns], memory.rows[series, columns]

    def _away(self, memory: CreepMemory, series: Ints) -> list[tuple[int, float]]:
        """Give those series that have left the level of their oldest blocks, and what is worth an alarm in them."""
        series = series[memory.blocks[series] >= self.head + self.ramp]
        blocks = memory.blocks[series]
        oldest = (np.maximum(blocks - self.blocks, 0)[:, None] + np.arange(self.head)) % self.blocks
        base = median(memory.levels[series[:, None], oldest])
        now = median(memory.levels[series[:, None], latest_columns(self.blocks, blocks, NEWEST)])
        worth, floor = (np.broadcast_to(limit, (memory.width,))[series] for limit in (self.worth, self.floor))
        needed = np.maximum(worth * np.abs(base), floor)
        away = np.abs(now - base) >= needed / 2
        return list(zip(series[away].tolist(), needed[away].tolist(), strict=True))

    def _judge(self, memory: CreepMemory, index: int, one: int, needed: float) -> list[Alarm]:
        levels, rows = self._last(memory, one)
        bend = self._bend(levels)
        if bend is None or not self._is_ramp(levels, bend, needed):
            return []
        memory.onset[one], memory.before[one] = rows[bend.place], bend.level
        memory.after[one] = np.median(levels[-NEWEST:])
        return [self._alarm(memory, index, one)]

    def _needed(self, memory: CreepMemory, one: int, level: float) -> float:
        """Give the smallest distance from a level that is worth an alarm."""
        worth, floor = (np.broadcast_to(limit, (memory.width,))[one] for limit in (self.worth, self.floor))
        return max(float(worth) * abs(level), float(floor))

    def _bend(self, levels: Floats) -> _Bend | None:
        """Fit a level and a line from its end, by least squares, at every place where it may bend; None if by no step.

        A single step that explains the same blocks nearly as well is no ramp.
        """
        places = np.arange(self.head, levels.size - NEWEST)
        line = np.maximum(np.arange(levels.size) - places[:, None] + 0.5, 0.0)
        left, slope = _left(levels, line)
        step, _ = _left(levels, (np.arange(levels.size) >= places[:, None]).astype(np.float64))
        best = int(left.argmin())
        if float(left[best]) > LIKELIER * float(step.min()):
            return None
        rise = float(slope[best] * line[best, -1])
        return _Bend(int(places[best]), float(np.median(levels[: places[best]])), rise)

    def _is_ramp(self, levels: Floats, bend: _Bend, needed: float) -> bool:
        """Hold a bend against what is worth an alarm, and against what the blocks before and beside it do."""
        side = 1.0 if bend.rise > 0 else -1.0
        before, after = levels[: bend.place], (levels[bend.place :] - bend.level) * side
        if not self.ramp <= after.size <= before.size:
            return False
        far = bend.rise * side
        come = float(np.median(after[-NEWEST:]))
        if min(far, come) < max(needed, UNUSUAL * float(np.ptp(before))):
            return False
        beside = after - far * (np.arange(after.size) + 0.5) / (after.size - 0.5)
        older, newer = np.triu_indices(after.size, 1)
        agree = float((after[newer] > after[older]).mean())
        return float(beside.std()) <= ROUGH * far and agree >= self.agreed

    def _follow(self, memory: CreepMemory, index: int, one: int) -> list[Alarm]:
        """End an episode that is back half-way, revise one that has come much farther."""
        levels, _ = self._last(memory, one)
        now, rise = float(np.median(levels[-NEWEST:])), float(memory.after[one] - memory.before[one])
        come = (now - float(memory.before[one])) / rise
        if BACK < come < FARTHER:
            return []
        if come >= FARTHER:
            memory.after[one] = now
            return [self._alarm(memory, index, one)]
        alarm = self._alarm(memory, index, one, over=True)
        self.relearn(memory, np.arange(memory.width) == one)
        return [alarm]

    def _alarm(self, memory: CreepMemory, index: int, one: int, over: bool = False) -> Alarm:
        before, after = float(memory.before[one]), float(memory.after[one])
        needed = self._needed(memory, one, before)
        direction = 1 if after > before else -1
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=before,
            after=after,
            limit=before + direction * needed,
            score=min(max(abs(after - before) / needed, 1.0), SUREST) if needed > 0 else SUREST,
            direction=direction,
            over=over,
        )


def _left(levels: Floats, shapes: Floats) -> tuple[Floats, Floats]:
    """Fit a constant and a multiple of each shape; give the squares that are left, and the multiples.

    Args:
        levels: shape (blocks,).
        shapes: shape (shapes, blocks), none of them constant.
    """
    about, off = shapes - shapes.mean(axis=1, keepdims=True), levels - levels.mean()
    across = about @ off
    power = (about * about).sum(axis=1)
    return float(off @ off) - across**2 / power, across / power
