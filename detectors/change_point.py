"""Where a series of which nothing is known changed its level: the likelihood of one level against two."""

from typing import NamedTuple

import numpy as np

from detectors.base import Alarm, Floats, Ints, Memory, check_row, require
from detectors.dating import date_shift
from detectors.evidence import independence
from detectors.robust import NORMAL_MAD, latest_columns, push

CLIP = 5.0
"""Standard deviations about the median that one row may count for."""
EXACT = 1e-12
"""Share of the scatter that is left, at least, when two levels explain everything."""
LONG = 4
"""Rows from one look at the longest window to the next."""
ALONE = 0.7
"""Worth of one row from which rows count as not resembling each other."""
SUREST = 100.0


class ChangePointMemory(Memory):
    """Per series: the rows since its last change.

    Attributes:
        latest: the last rows, a ring, shape (series, longest).
        rows: their row numbers, same shape.
        pushed: finite rows since the last change; those of the new level count.
        given: finite rows ever seen.
    """

    latest: Floats
    rows: Ints
    pushed: Ints
    given: Ints


class _Cut(NamedTuple):
    """The best cut of a window: rows before it, both levels, and how much better two levels explain the rows."""

    at: int
    before: float
    after: float
    gain: float


class ChangePoint:
    """Find changes of level in a series of any kind, short or long, and date each to its row.

    With every row it asks whether the rows since the last change are explained better by two levels than by one: twice
    the logarithm of the likelihood ratio at the best cut, with the scatter unknown on both sides. Rows that resemble
    the one before are worth fewer rows, so a series that wanders or climbs by nature is left alone. A change found is
    the new beginning: nothing must say that it is legitimate. Where a signal is known, `level_shift` is a hundred
    times cheaper, remembers what is healthy, and follows an episode to its end.

    Args:
        sure: twice the logarithm of the likelihood ratio that makes a change.
        warmup: rows before the first change.
        least: rows on either side of a change, at least 2.
        window: rows since the last change that are looked at, at least 4 `least`.
        longest: rows that are looked at now and then, for a slight change in rows that do not resemble each other; at
            least `window`.
        worth: smallest relative change worth an alarm.
        floor: smallest absolute change worth an alarm, in the signal's unit. The larger of both counts.

    Input: any unit; NaN = no reading.
    Output: one alarm a change, dated to the first row of the new level, with the medians of both sides; it is over as
        soon as it is raised, for the new level is what is normal from then on.
    Cost: O(window) per series and row, 70 µs. Memory: 2 `longest` numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.
    Source: K. J. Worsley, Journal of the American Statistical Association 74 (1979), 365-367, for the likelihood
        ratio; M. S. Bartlett, Journal of the Royal Statistical Society 98 (1935), 536-543, for the worth of rows that
        are alike.

    >>> change = ChangePoint()
    >>> memory = change.blank(1)
    >>> found = [a for i in range(120) for a in change.update(memory, i, np.array([i % 3 + 9.0 * (i >= 60)]))]
    >>> [(a.index, a.onset, a.before, a.after) for a in found if not a.over]
    [(61, 60, 1.0, 9.5)]
    """

    name = "change_point"

    def __init__(
        self,
        sure: float = 24.0,
        warmup: int = 40,
        least: int = 2,
        window: int = 160,
        longest: int = 400,
        worth: float = 0.0,
        floor: float = 0.0,
    ) -> None:
        require(sure > 0, "sure", "more than 0")
        require(least >= 2, "least", "at least 2 rows")
        require(warmup >= 2 * least + 2, "warmup", "at least twice `least` and 2 rows more")
        require(window >= 4 * least, "window", "at least four times `least`")
        require(longest >= window, "longest", "at least `window`")
        require(worth >= 0, "worth", "no negative number and no NaN")
        require(floor >= 0, "floor", "no negative number and no NaN")
        self.sure, self.warmup, self.least = sure, warmup, least
        self.window, self.longest = window, longest
        self.worth, self.floor = worth, floor
        self._sides = np.arange(least, longest)

    def blank(self, width: int) -> ChangePointMemory:
        """Make the memory of `width` series."""
        return ChangePointMemory(
            width=width,
            latest=np.full((width, self.longest), np.nan),
            rows=np.zeros((width, self.longest), dtype=np.int64),
            pushed=np.zeros(width, dtype=np.int64),
            given=np.zeros(width, dtype=np.int64),
        )

    def update(self, memory: ChangePointMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = np.flatnonzero(~np.isnan(row))
        push(memory.latest, memory.pushed, given, row[given])
        push(memory.rows, memory.pushed, given, index)
        memory.pushed[given] += 1
        memory.given[given] += 1
        ready = (memory.given[given] > self.warmup) & (memory.pushed[given] >= 2 * self.least + 2)
        alarms = []
        for one in given[ready]:
            alarms += self._look(memory, index, int(one))
        return alarms

    def _look(self, memory: ChangePointMemory, index: int, one: int) -> list[Alarm]:
        """Cut the rows since the last change; where the cut is sure, say so and begin anew behind it."""
        columns = self._columns(memory, one, self.window)
        cut = self._cut(memory.latest[one, columns], alike=0.0)
        if cut is None and memory.pushed[one] > self.window and memory.given[one] % LONG == 0:
            columns = self._columns(memory, one, self.longest)
            cut = self._cut(memory.latest[one, columns], alike=ALONE)
        if cut is None or columns.size - cut.at < self.least:
            return []
        height, least = abs(cut.after - cut.before), max(self.worth * abs(cut.before), self.floor)
        if height < least:
            return []
        since = columns[cut.at :]
        onset = int(memory.rows[one, since[0]])
        kept, rows = memory.latest[one, since], memory.rows[one, since]
        memory.latest[one, : since.size], memory.rows[one, : since.size] = kept, rows
        memory.pushed[one] = since.size
        return [self._alarm(one, index, onset, cut, over) for over in (False, True)]

    def _columns(self, memory: ChangePointMemory, one: int, most: int) -> Ints:
        count = min(int(memory.pushed[one]), most)
        columns: Ints = latest_columns(self.longest, memory.pushed[one, None], count)[0]
        return columns

    def _cut(self, rows: Floats, alike: float) -> _Cut | None:
        """Find the best cut of some rows and date it; None where one level explains them as well.

        Args:
            rows: shape (rows,), finite, oldest first.
            alike: least worth of one row, 0..1, or there is no cut.
        """
        count = rows.size
        middle = float(np.median(rows))
        apart = rows - middle
        most = CLIP * NORMAL_MAD * float(np.median(np.abs(apart)))
        if most > 0:
            apart = np.clip(apart, -most, most)
        sums = np.cumsum(apart)
        scatter = float((apart * apart).sum() - sums[-1] ** 2 / count)
        if scatter <= (EXACT * abs(middle)) ** 2 * count:
            return None
        side = self._sides[: count - 2 * self.least + 1]
        gains = (sums[side - 1] - side * (sums[-1] / count)) ** 2 * count / (side * (count - side))
        place = int(np.argmax(gains))
        at, left = int(side[place]), max(scatter - float(gains[place]), EXACT * scatter)
        before, after = float(sums[at - 1] / at), float((sums[-1] - sums[at - 1]) / (count - at))
        scattered = np.concatenate((apart[:at] - before, apart[at:] - after))
        worth = float(independence(scattered))
        gain = count * float(np.log(scatter / left)) * worth
        return _Cut(*date_shift(rows), gain) if gain >= self.sure and worth >= alike else None

    def _alarm(self, one: int, index: int, onset: int, cut: _Cut, over: bool) -> Alarm:
        direction = 1 if cut.after > cut.before else -1
        return Alarm(
            series=one,
            index=index,
            onset=onset,
            before=cut.before,
            after=cut.after,
            limit=cut.before + direction * max(self.worth * abs(cut.before), self.floor),
            score=min(cut.gain / self.sure, SUREST),
            direction=direction,
            over=over,
        )
