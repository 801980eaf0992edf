"""Single steps that take far longer than this job plans for, whatever pattern its steps follow."""

import math

import numpy as np

from detectors.base import Alarm, Floats, Ints, Memory, check_row, fits, per_series, require
from detectors.planned import Planned
from detectors.robust import median, push

LAGS = 4
"""Longest pattern that is a plan: work that repeats every second, third or fourth step."""
WHOLE = math.lcm(*range(1, LAGS + 1))
"""Rows after which every pattern is where it was."""
TAUGHT = 7
"""Earlier rows of the same phase that say what a row should be."""
FADING = 1 / 30
"""Weight of the newest row in the usual distance from what was expected."""
PLAINER = 0.8
"""A pattern must explain the rows so much better than no pattern at all, or it is not believed."""
FEW = 3
"""Slow rows in succession that are stalls; more of them are another level, which is not for this detector to tell."""
WILD, LEAST = 2.0, 0.02
"""A row counts for at most so many times the usual distance, or that share of the level."""
NORMAL_MEAN = 1.2533
"""Mean absolute deviation times this is the standard deviation of a normal distribution."""
UNSURE = 8.0
"""A spread learned from so many rows is believed to be twice as large."""
SUREST = 100.0


class SlowStepMemory(Memory):
    """Per series: its last rows, how well each pattern explains them, its slow rows of old, and the open stall.

    Attributes:
        latest: the last rows, a ring, shape (series, lags * taught).
        passed: rows that have passed in the ring, some of those that were missing included.
        given: rows ever seen.
        newest: number of the last of them, -1 before the first.
        error: usual distance from what each pattern expects, shape (series, lags); NaN before the first.
        places: row numbers of the last slow rows, oldest first, shape (series, held); -1 = none.
        heights: how slow they were, a multiple of the level, same shape; NaN = none.
        onset: the newest row, where it was a stall; -1 where none is open.
        before: what was expected of it.
        extreme: what it took.
        limit: what it exceeded.
        rows: slow rows in succession up to now.
    """

    latest: Floats
    passed: Ints
    given: Ints
    newest: Ints
    error: Floats
    places: Ints
    heights: Floats
    onset: Ints
    before: Floats
    extreme: Floats
    limit: Floats
    rows: Ints


class SlowStep:
    """Find stalls: steps that take far longer than planned, in a job whose steps need not be alike.

    What a step should take is learned from its own past: the median of the last rows, or of the last rows of the same
    phase where work repeats every few steps (an optimiser that works on alternate steps). Slow steps that return at
    one distance and with one height (evaluation, a save, a new shard) are the job's plan from their third time on, or
    from the second where the first came at half the way; on top of a planned slow step a stall is still seen.

    Args:
        ratio: times what was expected that make a stall, more than 1.
        floor: smallest excess worth an alarm, in the signal's unit; one number, or one per series.
        sigmas: and so many standard deviations of the distances from what was expected.
        plain: times what was expected that are a stall however uneven the steps are, more than `ratio`.
        warmup: rows before the first alarm, at least 4.

    Input: the signal's unit, say seconds a step; NaN = no reading, or a row of a phase that was announced.
    Output: an alarm with each slow row, an episode of its own, so that a planned slow step does not hide the stall
        after it; `before` is what was expected, `after` what it took. One with `over`, dated to it, with the row after.
    Cost: a sort of 28 numbers per series and row, 1 µs. Memory: 70 numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> slow = SlowStep()
    >>> memory = slow.blank(1)
    >>> seconds = [1.0, 1.3] * 30
    >>> seconds[40], seconds[51] = 1.4, 1.7
    >>> found = [a for i, x in enumerate(seconds) for a in slow.update(memory, i, np.array([x]))]
    >>> [(a.index, a.before, a.after) for a in found if not a.over]
    [(40, 1.0, 1.4), (51, 1.3, 1.7)]
    """

    name = "slow_step"

    def __init__(
        self, ratio: float = 1.2, floor: float | Floats = 0.0, sigmas: float = 4.0, plain: float = 1.9, warmup: int = 8
    ) -> None:
        require(ratio > 1, "ratio", "more than 1")
        require(sigmas > 0, "sigmas", "more than 0")
        require(plain > ratio, "plain", "more than `ratio`")
        require(warmup >= 4, "warmup", "at least 4 rows")
        self.floor = per_series("floor", floor)
        self.ratio, self.sigmas, self.plain, self.warmup = ratio, sigmas, plain, warmup
        self.planned = Planned()
        self._back = np.array([lag * row for lag in range(1, LAGS + 1) for row in range(1, TAUGHT + 1)])

    def blank(self, width: int) -> SlowStepMemory:
        """Make the memory of `width` series; refuse an array of floors of another width."""
        fits("floor", self.floor, width)
        places, heights = self.planned.blank(width)
        return SlowStepMemory(
            width=width,
            latest=np.full((width, LAGS * TAUGHT), np.nan),
            passed=np.zeros(width, dtype=np.int64),
            given=np.zeros(width, dtype=np.int64),
            newest=np.full(width, -1, dtype=np.int64),
            error=np.full((width, LAGS), np.nan),
            places=places,
            heights=heights,
            onset=np.full(width, -1, dtype=np.int64),
            before=np.zeros(width),
            extreme=np.zeros(width),
            limit=np.zeros(width),
            rows=np.zeros(width, dtype=np.int64),
        )

    def update(self, memory: SlowStepMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = np.flatnonzero(~np.isnan(row))
        values = row[given]
        _pass_missing(memory, index, given)
        by_lag, pattern, spread = self._expected(memory, given)
        self._learn(memory, given, values, by_lag)
        most = (self.plain - 1) * pattern
        floor = np.broadcast_to(self.floor, memory.width)[given]
        least = np.maximum(np.minimum(self.sigmas * spread, most), floor)
        known = memory.given[given] > self.warmup
        slow = known & (values > np.maximum(self.ratio * pattern, pattern + least))
        alarms = [self._end(memory, int(one)) for one in given[memory.onset[given] >= 0]]
        for place in np.flatnonzero(slow):
            one, value, usual = int(given[place]), float(values[place]), float(pattern[place])
            height = self.planned.height(memory.places[one], memory.heights[one], index, value / usual)
            self.planned.note(memory.places[one], memory.heights[one], index, value / usual)
            limit = max(self.ratio * usual * height, usual * height + float(least[place]))
            slow[place] = value > limit
            if slow[place] and memory.rows[one] < FEW:
                alarms.append(self._open(memory, index, one, value, (usual * height, limit)))
        memory.rows[given] = np.clip(memory.rows[given] + np.where(slow, 1, -1), 0, 2 * FEW)
        return alarms

    def _expected(self, memory: SlowStepMemory, given: Ints) -> tuple[Floats, Floats, Floats]:
        """Give what each lag expects, shape (given, lags), what the best of them does, and its standard deviation."""
        columns = (memory.passed[given, None] - self._back) % memory.latest.shape[1]
        by_lag = median(memory.latest[given[:, None], columns].reshape(given.size, LAGS, TAUGHT))
        error = memory.error[given]
        weighed = np.where(np.isnan(error), np.inf, error)
        weighed[:, 0] *= PLAINER
        best = np.argmin(weighed, axis=1)[:, None]
        pattern = np.take_along_axis(by_lag, best, axis=1)[:, 0]
        unsure = 1 + UNSURE / np.maximum(memory.given[given], 1)
        spread = NORMAL_MEAN * unsure * np.nan_to_num(np.take_along_axis(error, best, axis=1)[:, 0])
        return by_lag, np.where(memory.given[given] > 0, pattern, np.inf), spread

    def _learn(self, memory: SlowStepMemory, given: Ints, values: Floats, by_lag: Floats) -> None:
        """Note how far each lag was off; one wild row counts for little."""
        error = memory.error[given]
        most = np.where(np.isnan(error), np.inf, np.maximum(WILD * error, LEAST * np.abs(by_lag)))
        off = np.minimum(np.abs(values[:, None] - by_lag), most)
        weight = np.maximum(FADING, 1 / (memory.given[given] + 1))[:, None]
        known = error + (off - error) * weight
        memory.error[given] = np.where(np.isnan(error), off, np.where(np.isnan(off), error, known))
        push(memory.latest, memory.passed, given, values)
        memory.passed[given] += 1
        memory.given[given] += 1

    def _open(self, memory: SlowStepMemory, index: int, one: int, value: float, held: tuple[float, float]) -> Alarm:
        memory.onset[one], memory.extreme[one] = index, value
        memory.before[one], memory.limit[one] = held
        return self._alarm(memory, one, over=False)

    def _end(self, memory: SlowStepMemory, one: int) -> Alarm:
        alarm = self._alarm(memory, one, over=True)
        memory.onset[one] = -1
        return alarm

    def _alarm(self, memory: SlowStepMemory, one: int, over: bool) -> Alarm:
        before, limit, after = (float(field[one]) for field in (memory.before, memory.limit, memory.extreme))
        onset = int(memory.onset[one])
        return Alarm(
            series=one,
            index=onset,
            onset=onset,
            before=before,
            after=after,
            limit=limit,
            score=min(max((after - before) / max(limit - before, 1e-12), 1.0), SUREST),
            direction=1,
            over=over,
        )


def _pass_missing(memory: SlowStepMemory, index: int, given: Ints) -> None:
    """Leave the places of missing rows free, so that the row after them is held against those of its own phase.

    Of many missing rows only so many are left out as bring every pattern to where it is now.
    """
    newest = memory.newest[given]
    missing = np.where(newest < 0, 0, np.maximum(index - newest - 1, 0)) % WHOLE
    for left in range(int(missing.max(initial=0))):
        behind = given[missing > left]
        push(memory.latest, memory.passed, behind, np.full(behind.size, np.nan))
        memory.passed[behind] += 1
    memory.newest[given] = index
