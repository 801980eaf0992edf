"""Short excursions of a drifting signal: the loss or the gradient norm jumps away from its own trend."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, fits, per_series, require
from detectors.robust import centre_and_mad, latest_columns, median, push

REFRESH = 10
"""Healthy rows from one look at the spread to the next."""
CALMER = 1.5
"""The newest rows' spread, times this, is believed where it is the smaller: a steep beginning is soon forgotten."""
SUREST = 100.0
BEFORE = 5
"""Healthy rows just before, from which a spike stands out too."""


class SpikeMemory(Memory):
    """Per series: its trend, the spread about it, and the open episode.

    Attributes:
        recent: the last healthy rows, oldest first, shape (series, trend); NaN until there are so many.
        seen: healthy rows since the trend was begun.
        residuals: distances of healthy rows from the trend before them, a ring, shape (series, window).
        pushed: residuals ever pushed.
        centre: usual residual, NaN before it was learned.
        spread: standard deviation about it, likewise.
        direction: of the open episode, +1 or -1; 0 where none is open.
        onset: its first row.
        last: its last row so far that was away.
        away: rows of it that were away.
        calm: rows since the last of those.
        before: trend at the onset.
        extreme: farthest value so far.
        reported: farthest value last reported.
        limit: distance that was exceeded at the onset.
    """

    recent: Floats
    seen: Ints
    residuals: Floats
    pushed: Ints
    centre: Floats
    spread: Floats
    direction: Ints
    onset: Ints
    last: Ints
    away: Ints
    calm: Ints
    before: Floats
    extreme: Floats
    reported: Floats
    limit: Floats


class Spike:
    """Find loss spikes and suspicious drops: one row or a few that jump away from the signal's own trend.

    The trend is the line through the medians of the older and the newer half of the last healthy rows, so that a loss
    that falls steeply at first neither alarms nor makes later spikes look small. Rows that are away teach nothing.
    A signal that stays away for good is a shift: after `longest` rows the episode ends and the trend is learned anew.

    Losses have stretches of hard batches, in which a single row far from the trend is nothing new. So a first row that
    is away must also be sudden, far from the rows just before it; or very far from the trend; or the second in a row.

    Args:
        sigmas: standard deviations from the trend, robust, from which on a row is away.
        sudden: such deviations from the rows just before (the mean of the last of them and of the one farthest out in
            the same direction) that make a spike of a row that is away.
        plain: such deviations from the trend that are a spike whatever came before, at least `sigmas`.
        window: healthy rows from which the spread is learned.
        trend: healthy rows from which the trend is learned, an even number.
        worth: smallest excess worth an alarm, relative to the trend; one number, or one per series.
        floor: smallest absolute excess worth an alarm, in the signal's unit; likewise. The larger of both counts.
        calm: rows that are not away, after which an episode is over; spikes nearer to each other are one.
        warmup: distances from the trend known before the first alarm; that is `trend` rows more.
        longest: rows away after which the new level is believed.

    Input: the signal's unit, NaN = no reading.
    Output: an alarm with the first row that is away; `before` is the trend there, `after` the extreme value so far. A
        revision when the excess has grown by half; one with `over`, dated to the last row that was away, with the
        number of `rows` away. A value of exactly 0 ends an episode of rises and opens one of its own.
    Cost: O(1) amortised per series and row, about 1 µs. Memory: `window` + `trend` + 13 numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> spike = Spike(worth=0.05)
    >>> memory = spike.blank(1)
    >>> loss = [4.0 - 0.01 * i for i in range(100)]
    >>> loss[80:83] = [3.9, 5.1, 4.0]
    >>> found = [a for i, x in enumerate(loss) for a in spike.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, round(a.before, 2), a.after, a.over, a.numbers["rows"]) for a in found]
    [(80, 80, 3.2, 3.9, False, 1.0), (81, 80, 3.2, 5.1, False, 2.0), (82, 80, 3.2, 5.1, True, 3.0)]
    """

    name = "spike"

    def __init__(
        self,
        sigmas: float = 5.0,
        sudden: float = 6.1,
        plain: float = 8.0,
        window: int = 200,
        trend: int = 40,
        worth: float | Floats = 0.1,
        floor: float | Floats = 0.0,
        calm: int = 10,
        warmup: int = 30,
        longest: int = 200,
    ) -> None:
        require(sigmas > 0, "sigmas", "more than 0")
        require(sudden > 0, "sudden", "more than 0")
        require(plain >= sigmas, "plain", "at least `sigmas`")
        require(trend >= 4 and trend % 2 == 0, "trend", "an even number of rows, at least 4")
        require(warmup >= 4, "warmup", "at least 4 rows")
        require(window >= warmup, "window", "at least `warmup` rows")
        require(calm >= 1, "calm", "at least 1")
        require(longest >= 1, "longest", "at least 1")
        self.worth, self.floor = per_series("worth", worth), per_series("floor", floor)
        self.sigmas, self.sudden, self.plain = sigmas, sudden, plain
        self.window, self.trend = window, trend
        self.calm, self.warmup, self.longest = calm, warmup, longest

    def blank(self, width: int) -> SpikeMemory:
        """Make the memory of `width` series; refuse `worth` or `floor` arrays of another width."""
        fits("worth", self.worth, width)
        fits("floor", self.floor, width)
        return SpikeMemory(
            width=width,
            recent=np.full((width, self.trend), np.nan),
            seen=np.zeros(width, dtype=np.int64),
            residuals=np.full((width, self.window), np.nan),
            pushed=np.zeros(width, dtype=np.int64),
            centre=np.full(width, np.nan),
            spread=np.full(width, np.nan),
            direction=np.zeros(width, dtype=np.int64),
            onset=np.zeros(width, dtype=np.int64),
            last=np.zeros(width, dtype=np.int64),
            away=np.zeros(width, dtype=np.int64),
            calm=np.zeros(width, dtype=np.int64),
            before=np.zeros(width),
            extreme=np.zeros(width),
            reported=np.zeros(width),
            limit=np.zeros(width),
        )

    def update(self, memory: SpikeMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        level = self._level(memory)
        residual = row - level
        limits = np.maximum(self.sigmas * memory.spread, np.maximum(self.worth * np.abs(level), self.floor))
        away = np.abs(residual - memory.centre) > limits  # False where the trend or the spread is not known
        given = ~np.isnan(row)
        if away.any():
            away &= (memory.direction != 0) | self._stands_out(memory, row, level, limits)
        self._learn(memory, row, residual, given & ~away)
        if not (away.any() or memory.direction.any()):
            return []
        alarms = self._turn(memory, np.flatnonzero(away & (row == 0) & (memory.before * memory.direction > 0)))
        opened = np.flatnonzero(away & (memory.direction == 0))
        alarms += self._open(memory, index, row, residual, level, limits, opened)
        return alarms + self._follow(memory, index, row, away, np.setdiff1d(np.flatnonzero(given), opened))

    def believe(self, memory: SpikeMemory, series: int, value: float, last: float) -> None:
        """Carry the trend of a series over to a level that is another for a good reason, and end its episode.

        Args:
            value: the first row of the new level.
            last: the trend there, of the level before; more than 0.
        """
        memory.recent[series] *= value / last
        memory.direction[series] = 0

    def _level(self, memory: SpikeMemory) -> Floats:
        """Carry the line through both halves' medians on to the next row; NaN before there are enough rows."""
        half = self.trend // 2
        older, newer = median(memory.recent.reshape(memory.width, 2, half)).T
        known = memory.seen >= self.trend
        return np.where(known, newer + (newer - older) * (half + 1) / (2 * half), np.nan)

    def _stands_out(self, memory: SpikeMemory, row: Floats, level: Floats, limits: Floats) -> Flags:
        """Tell whether a row that is away is more than one hard batch among hard ones."""
        distance = row - level - memory.centre
        side = np.sign(distance)
        just = (memory.recent[:, -BEFORE:] - (level + memory.centre)[:, None]) * side[:, None]
        jump = np.abs(distance) - (just[:, -1] + just.max(axis=1)) / 2
        second = just[:, -1] > limits
        return np.asarray(
            (jump > self.sudden * memory.spread) | (np.abs(distance) > self.plain * memory.spread) | second
        )

    def _learn(self, memory: SpikeMemory, row: Floats, residual: Floats, healthy: Flags) -> None:
        series = np.flatnonzero(healthy)
        memory.recent[series, :-1] = memory.recent[series, 1:]
        memory.recent[series, -1] = row[series]
        memory.seen += healthy
        known = np.flatnonzero(healthy & ~np.isnan(residual))
        push(memory.residuals, memory.pushed, known, residual[known])
        memory.pushed[known] += 1
        pushed = memory.pushed[known]
        due = known[(pushed >= self.warmup) & ((pushed - self.warmup) % REFRESH == 0)]
        if due.size:
            newest = latest_columns(self.window, memory.pushed[due], self.warmup)
            memory.centre[due], now = centre_and_mad(memory.residuals[due[:, None], newest])
            memory.spread[due] = np.minimum(centre_and_mad(memory.residuals[due])[1], CALMER * now)

    def _open(
        self,
        memory: SpikeMemory,
        index: int,
        row: Floats,
        residual: Floats,
        level: Floats,
        limits: Floats,
        opened: Ints,
    ) -> list[Alarm]:
        memory.direction[opened] = np.where(residual[opened] > memory.centre[opened], 1, -1)
        memory.onset[opened] = memory.last[opened] = index
        memory.away[opened], memory.calm[opened] = 1, 0
        memory.before[opened], memory.limit[opened] = level[opened], limits[opened]
        memory.extreme[opened] = memory.reported[opened] = row[opened]
        return [self._alarm(memory, index, int(series)) for series in opened]

    def _turn(self, memory: SpikeMemory, series: Ints) -> list[Alarm]:
        """End an episode of rises in which a series goes to exactly zero: that is a finding of its own."""
        alarms = [self._alarm(memory, int(memory.last[one]), int(one), over=True) for one in series]
        memory.direction[series] = 0
        return alarms

    def _follow(self, memory: SpikeMemory, index: int, row: Floats, away: Flags, given: Ints) -> list[Alarm]:
        """Carry the open episodes on by one row."""
        series = given[memory.direction[given] != 0]
        far = series[away[series]]
        near = series[~away[series]]
        memory.calm[near] += 1
        memory.calm[far] = 0
        memory.away[far] += 1
        memory.last[far] = index
        distance = np.abs(row[far] - memory.before[far])
        farther = distance > np.abs(memory.extreme[far] - memory.before[far])
        memory.extreme[far[farther]] = row[far[farther]]
        grown = far[distance >= 1.5 * np.abs(memory.reported[far] - memory.before[far])]
        memory.reported[grown] = row[grown]
        alarms = [self._alarm(memory, index, int(one)) for one in grown]
        settled = far[memory.away[far] >= self.longest]
        memory.seen[settled] = 0
        memory.recent[settled] = np.nan
        ended = np.concatenate((near[memory.calm[near] >= self.calm], settled))
        alarms += [self._alarm(memory, int(memory.last[one]), int(one), over=True) for one in ended]
        memory.direction[ended] = 0
        return alarms

    def _alarm(self, memory: SpikeMemory, index: int, series: int, over: bool = False) -> Alarm:
        before, after = float(memory.before[series]), float(memory.extreme[series])
        limit, direction = float(memory.limit[series]), int(memory.direction[series])
        return Alarm(
            series=series,
            index=index,
            onset=int(memory.onset[series]),
            before=before,
            after=after,
            limit=before + direction * limit,
            score=min(max(abs(after - before) / limit, 1.0), SUREST) if limit > 0 else SUREST,
            direction=direction,
            over=over,
            numbers={"rows": float(memory.away[series])},
        )
