"""A signal that has settled on another level than its own past."""

import math

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, check_row, require
from detectors.baseline import Baseline, BaselineMemory
from detectors.dating import date_shift, left_for_good
from detectors.evidence import farthest_stretch, surprise
from detectors.robust import latest_columns, median, push, quantiles

CLIP = 3.0
"""Standard deviations that one row may count for, so that a lone spike cannot alarm."""
DATED = 30
"""Healthy rows that the dating sees before the excursion began."""
SIDES = np.array([1.0, -1.0])
CREPT, UNSURE = 3.0, 1.2
"""A ramp must have come so many times as far as is worth an alarm, and so many standard deviations of single rows."""
SUREST = 100.0


class LevelShiftMemory(BaselineMemory):
    """Per series: its healthy past, two running sums, its last rows, and the open episode.

    Attributes:
        latest: the last rows whether healthy or not, a ring, shape (series, recent).
        latest_rows: their row numbers, same shape.
        given: finite rows ever seen.
        sums: standardised excursion upwards and downwards, shape (series, 2).
        lengths: rows since that excursion began, same shape.
        tested: length at which the excursion was last held against the past, same shape.
        direction: of the open episode, +1 or -1; 0 where none is open.
        onset: row the open episode is dated to.
        after: level last reported.
        limit: distance from the baseline that was exceeded when it was raised.
        lasted: finite rows since the onset.
        anchor: the first baseline that was learned from a whole window; NaN before that.
    """

    latest: Floats
    latest_rows: Ints
    given: Ints
    sums: Floats
    lengths: Ints
    tested: Ints
    direction: Ints
    onset: Ints
    after: Floats
    limit: Floats
    lasted: Ints
    anchor: Floats


class LevelShift:
    """Find a signal that has settled above or below its own healthy level, and say since when and by how much.

    A two-sided running sum of standardised excursions raises a suspicion. It becomes an alarm only when the median of
    the rows since the excursion began is further from the baseline than is worth an alarm, and further than any
    stretch of that length in the healthy past: so spikes, every-other-row patterns, heavy tails and slow waves within
    `worth` are silent. The baseline follows slow change, but not for ever: where it has crept away from the first one
    by three times what is worth an alarm, that is a ramp. It does not find a wider noise about the same level.

    Args:
        worth: smallest relative change worth an alarm, 0.05 is 5 %; one number, or one per series.
        floor: smallest absolute change worth an alarm, in the signal's unit; likewise. The larger of both counts.
        warmup: healthy rows learned before the first alarm, at least twice `recent`.
        window: healthy rows that the baseline is learned from.
        recent: rows that a level is judged by, and by which the baseline lags behind.
        drift: slack per row, in standard deviations, 0 to 3; half of the smallest shift found in noise.
        threshold: excursion that raises a suspicion, in standard deviations; one row counts for at most 3 less drift.
        margin: how much further than any healthy stretch of the same length, 1.2 is 20 %.
        between: rows between two false alarms of one series, at least; see `detectors.alarm_rate`.

    Input: the signal's unit, NaN = no reading. A row that must neither teach nor alarm (a checkpoint, a warm-up, a
        phase that was announced) is fed as NaN.
    Output: an alarm when a shift is confirmed; a revision with the same onset when the level has moved away by half of
        the shift again; one with `over` when it is back within half of the limit or a quarter of the shift. While an
        episode is open its series' baseline is frozen: after a change that is there to stay, call `relearn`.
    Cost: O(1) amortised per series and row, about 1 µs; an alarm 0.5 ms. Memory: 2 `window` + 200 numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.
    Source: E. S. Page, Biometrika 41 (1954), 100-115, on clipped values; confirmation by the signal's own past.

    >>> shift = LevelShift(worth=0.05)
    >>> memory = shift.blank(1)
    >>> found = [a for i, x in enumerate([2.0, 2.01] * 30 + [2.4] * 10 + [2.0] * 9)
    ...          for a in shift.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, round(a.before, 2), a.after, a.direction, a.over) for a in found]
    [(64, 60, 2.0, 2.4, 1, False), (69, 60, 2.0, 2.4, 1, True)]
    """

    name = "level_shift"

    def __init__(
        self,
        worth: float | Floats = 0.05,
        floor: float | Floats = 0.0,
        warmup: int = 30,
        window: int = 200,
        recent: int = 8,
        drift: float = 1.0,
        threshold: float = 8.0,
        margin: float = 1.2,
        between: float = 160_000.0,
    ) -> None:
        require(recent >= 2, "recent", "at least 2 rows")
        require(warmup >= 2 * recent, "warmup", "at least twice `recent`")
        require(0 <= drift < CLIP, "drift", f"0 to {CLIP}")
        require(threshold > 0, "threshold", "more than 0")
        require(margin >= 1, "margin", "at least 1")
        require(between > 1, "between", "more than 1 row")
        self.healthy = Baseline(worth, floor, warmup, window, lag=recent)
        self.worth, self.floor = self.healthy.worth, self.healthy.floor
        self.warmup, self.window, self.recent = warmup, window, recent
        self.drift, self.threshold, self.margin, self.between = drift, threshold, margin, between
        self.sure = math.log(between)

    def blank(self, width: int) -> LevelShiftMemory:
        """Make the memory of `width` series; refuse `worth` or `floor` arrays of another width."""
        return LevelShiftMemory(
            width=width,
            **self.healthy.blank(width),
            latest=np.full((width, self.recent), np.nan),
            latest_rows=np.zeros((width, self.recent), dtype=np.int64),
            given=np.zeros(width, dtype=np.int64),
            sums=np.zeros((width, 2)),
            lengths=np.zeros((width, 2), dtype=np.int64),
            tested=np.zeros((width, 2), dtype=np.int64),
            direction=np.zeros(width, dtype=np.int64),
            onset=np.zeros(width, dtype=np.int64),
            after=np.zeros(width),
            limit=np.zeros(width),
            lasted=np.zeros(width, dtype=np.int64),
            anchor=np.full(width, np.nan),
        )

    def baseline(self, memory: LevelShiftMemory) -> tuple[Floats, Floats]:
        """Give the healthy level and the standard deviation per series; NaN before they are learned."""
        return memory.centre.copy(), memory.spread.copy()

    def relearn(self, memory: LevelShiftMemory, series: Flags | None = None) -> None:
        """Forget what is healthy, after an announced change; an open episode is dropped without a closing alarm.

        Args:
            memory: changed in place.
            series: True for the series concerned; None for all.
        """
        chosen = np.ones(memory.width, dtype=np.bool_) if series is None else series
        blank = self.blank(memory.width)
        for name in memory.__struct_fields__:
            if name != "width":
                getattr(memory, name)[chosen] = getattr(blank, name)[chosen]

    def update(self, memory: LevelShiftMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = ~np.isnan(row)
        opened = memory.direction != 0
        every = np.flatnonzero(given)
        push(memory.latest, memory.given, every, row[every])
        push(memory.latest_rows, memory.given, every, index)
        memory.given += given
        calm = given & ~opened
        refreshed = self.healthy.note(memory, index, row, calm)
        alarms = self._crept(memory, index, refreshed) if refreshed.size else []
        alarms += self._suspect(memory, index, row, calm & ~np.isnan(memory.centre) & (memory.direction == 0))
        if opened.any():
            alarms += self._follow(memory, index, np.flatnonzero(given & opened))
        return alarms

    def _crept(self, memory: LevelShiftMemory, index: int, series: Ints) -> list[Alarm]:
        """Hold fresh baselines against the first one: each step of a ramp is small, all together are not."""
        whole = series[memory.pushed[series] >= self.window + self.recent]
        anchor = memory.anchor[whole]
        np.copyto(anchor, memory.centre[whole], where=np.isnan(anchor))
        memory.anchor[whole] = anchor
        crept = memory.centre[whole] - anchor
        needed = np.maximum(CREPT * self.healthy.limits(memory)[whole], UNSURE * memory.spread[whole])
        return [
            self._creeps(memory, index, int(whole[place]), float(anchor[place]), float(needed[place]))
            for place in np.flatnonzero(np.abs(crept) > needed)
        ]

    def _creeps(self, memory: LevelShiftMemory, index: int, series: int, anchor: float, needed: float) -> Alarm:
        """Open the episode of a ramp, dated to where the rows held leave the first baseline."""
        values, rows = self.healthy.last(memory, series, self.healthy.held)
        side = 1 if memory.centre[series] > anchor else -1
        begun = left_for_good((values - anchor) * side, needed / 2)
        level = float(np.median(values[-4 * self.recent :]))
        self.healthy.withdraw(memory, series, values.size - begun)
        memory.centre[series] = anchor
        memory.direction[series], memory.onset[series] = side, rows[begun]
        memory.after[series], memory.limit[series], memory.lasted[series] = level, needed, values.size - begun
        memory.sums[series], memory.lengths[series], memory.tested[series] = 0.0, 0, 0
        return self._alarm(memory, index, series, abs(level - anchor))

    def _suspect(self, memory: LevelShiftMemory, index: int, row: Floats, watched: Flags) -> list[Alarm]:
        """Run the sums; confirm where they are over the threshold."""
        most = CLIP * memory.spread
        excursion = np.clip(row - memory.centre, -most, most) / memory.spread
        sums = np.clip(memory.sums + excursion[:, None] * SIDES - self.drift, 0.0, 2 * self.threshold)
        sides = watched[:, None]
        np.copyto(memory.sums, sums, where=sides)
        going = memory.sums > 0
        np.copyto(memory.lengths, np.where(going, memory.lengths + 1, 0), where=sides)
        np.copyto(memory.tested, 0, where=~going)
        # A noisy series may stay suspicious for long: the costly test is repeated only when the excursion has grown.
        longer = memory.lengths > memory.tested + np.minimum(memory.tested // 4, 7)
        suspects = (memory.sums > self.threshold) & sides & longer
        if not suspects.any():
            return []
        found = [self._confirm(memory, index, *suspect) for suspect in self._far(memory, *np.nonzero(suspects))]
        return [alarm for alarm in found if alarm]

    def _far(self, memory: LevelShiftMemory, series: Ints, side: Ints) -> list[tuple[int, int, float]]:
        """Keep the suspects whose level since the excursion began is far enough to be worth an alarm."""
        most = 2 * self.recent
        columns = latest_columns(self.healthy.held, memory.pushed[series], most)
        begun = np.arange(most) >= most - memory.lengths[series, side][:, None]
        level = median(np.where(begun, memory.values[series[:, None], columns], np.nan))
        height = (level - memory.centre[series]) * SIDES[side]
        far = height >= self.healthy.limits(memory)[series]
        return list(zip(series[far].tolist(), side[far].tolist(), height[far].tolist(), strict=True))

    def _confirm(self, memory: LevelShiftMemory, index: int, series: int, side: int, height: float) -> Alarm | None:
        """Hold a suspect against its own past, date it, and open the episode."""
        length = int(memory.lengths[series, side])
        memory.tested[series, side] = length
        values, rows = self.healthy.last(memory, series, self.healthy.held)
        excursion = (values - memory.centre[series]) * SIDES[side]
        begun = values.size - min(length, values.size // 3)
        unusual = self.margin * farthest_stretch(excursion[:begun], min(values.size - begun, 2 * self.recent))
        needed = max(float(self.healthy.limits(memory)[series]), unusual)
        if height < needed or memory.direction[series] != 0:
            return None
        start = max(0, begun - max(values.size - begun, DATED))
        onset = start + date_shift(values[start:])[0]
        height = float(np.median(excursion[onset:]))
        spread = float(memory.spread[series])
        if (
            height < needed
            or surprise(excursion[:onset] / spread, excursion[onset:] / spread, height / spread) < self.sure
        ):
            return None
        self._open(memory, series, side, values[onset:], needed)
        memory.onset[series] = rows[onset]
        return self._alarm(memory, index, series, height)

    def _open(self, memory: LevelShiftMemory, series: int, side: int, shifted: Floats, needed: float) -> None:
        self.healthy.withdraw(memory, series, shifted.size)
        memory.direction[series] = int(SIDES[side])
        memory.after[series], memory.limit[series], memory.lasted[series] = np.median(shifted), needed, shifted.size
        memory.sums[series], memory.lengths[series], memory.tested[series] = 0.0, 0, 0

    def _alarm(self, memory: LevelShiftMemory, index: int, series: int, height: float, over: bool = False) -> Alarm:
        before, limit = float(memory.centre[series]), float(memory.limit[series])
        direction = int(memory.direction[series])
        return Alarm(
            series=series,
            index=index,
            onset=int(memory.onset[series]),
            before=before,
            after=float(memory.after[series]),
            limit=before + direction * limit,
            score=min(height / limit, SUREST) if limit > 0 else SUREST,
            direction=direction,
            over=over,
        )

    def _follow(self, memory: LevelShiftMemory, index: int, series: Ints) -> list[Alarm]:
        """End the episodes whose level is back, revise those whose level has moved on."""
        memory.lasted[series] += 1
        series = series[memory.lasted[series] >= self.recent]
        direction, centre = memory.direction[series], memory.centre[series]
        near, distance = quantiles((memory.latest[series] - centre[:, None]) * direction[:, None], (0.25, 0.5))
        height = (memory.after[series] - centre) * direction
        back = np.maximum(memory.limit[series] / 2, height / 4)
        alarms = []
        for place in np.flatnonzero((distance <= back) | (near >= 1.5 * height)):
            one = int(series[place])
            if distance[place] <= back[place]:
                alarms.append(self._end(memory, one, float(back[place])))
            else:
                memory.after[one] = centre[place] + direction[place] * distance[place]
                alarms.append(self._alarm(memory, index, one, float(distance[place])))
        return alarms

    def _end(self, memory: LevelShiftMemory, series: int, back: float) -> Alarm:
        """Close an episode; its last row is where the rows stop being away and begin being back."""
        columns = latest_columns(self.recent, memory.given[series, None], self.recent)[0]
        distance = (memory.latest[series, columns] - memory.centre[series]) * memory.direction[series]
        away = np.where(distance > back, 1, -1)
        last = int(np.argmax(np.cumsum(away)))
        end = max(int(memory.latest_rows[series, columns[last]]), int(memory.onset[series]))
        height = abs(float(memory.after[series] - memory.centre[series]))
        alarm = self._alarm(memory, end, series, height, over=True)
        memory.direction[series] = 0
        since = columns[last + 1 :]  # the rows after the end are healthy again, or the beginning of another shift
        self.healthy.add(memory, series, memory.latest[series, since], memory.latest_rows[series, since])
        return alarm
