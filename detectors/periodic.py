"""Steps that are slow at a fixed distance and cost too much for a plan: a loader that is held up by its workers."""

import numpy as np

from detectors.base import Alarm, Floats, Ints, Memory, check_row, require
from detectors.robust import latest_columns, median, push

LOOK = 8
"""Rows from one look to the next."""
SUREST = 100.0


class PeriodicMemory(Memory):
    """Per series: its last rows and the open episode.

    Attributes:
        latest: the last rows, a ring, shape (series, window).
        rows: their row numbers, same shape.
        given: rows ever seen.
        onset: first slow row of the open episode, -1 where none is open.
        last: last slow row of it.
        period: rows from one slow row to the next.
        before: usual level.
        after: level of the slow rows.
        lost: share of the time that the slow rows cost, as last reported.
    """

    latest: Floats
    rows: Ints
    given: Ints
    onset: Ints
    last: Ints
    period: Ints
    before: Floats
    after: Floats
    lost: Floats


class Periodic:
    """Find a harmful period and its length: every fifth step waits for the loader, every twentieth for a collector.

    Slow rows that return at one distance are a plan where they are rare (`slow_step` learns them) and a pattern of work
    where they are next to each other. In between, where what they cost is worth it, somebody should look: a loader
    with too few workers stalls once in as many steps as it has workers, a garbage collector every so many objects.

    Args:
        ratio: times the usual that make a slow row, more than 1.
        worth: share of the time lost that is worth an alarm.
        shortest: rows from one slow row to the next, at least 2; shorter ones are how the job works.
        times: slow rows that must have come at that distance, at least 4.
        window: rows that are looked at.

    Input: the signal's unit, say seconds a step; NaN = no reading, or a row of a phase that was announced.
    Output: an alarm dated to the first slow row of the window; `before` is the usual level and `after` that of the slow
        rows. Numbers: `period` in rows, `lost` as a share of the time. A revision when the period has changed or the
        loss has grown by half; one with `over` when the slow rows stay away.
    Cost: a sort of `window` numbers per series every eighth row. Memory: 2 `window` numbers a series.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.

    >>> periodic = Periodic()
    >>> memory = periodic.blank(1)
    >>> seconds = [2.0 if i >= 60 and i % 5 == 0 else 1.0 for i in range(140)]
    >>> found = [a for i, x in enumerate(seconds) for a in periodic.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, a.before, a.after, a.numbers["period"]) for a in found][:1]
    [(87, 60, 1.0, 2.0, 5.0)]
    """

    name = "periodic"

    def __init__(
        self, ratio: float = 1.3, worth: float = 0.04, shortest: int = 5, times: int = 6, window: int = 160
    ) -> None:
        require(ratio > 1, "ratio", "more than 1")
        require(0 < worth < 1, "worth", "more than 0, less than 1")
        require(shortest >= 2, "shortest", "at least 2 rows")
        require(times >= 4, "times", "at least 4")
        require(window >= times * shortest, "window", "at least `times` times `shortest`")
        self.ratio, self.worth, self.shortest, self.times, self.window = ratio, worth, shortest, times, window

    def blank(self, width: int) -> PeriodicMemory:
        """Make the memory of `width` series."""
        return PeriodicMemory(
            width=width,
            latest=np.full((width, self.window), np.nan),
            rows=np.zeros((width, self.window), dtype=np.int64),
            given=np.zeros(width, dtype=np.int64),
            onset=np.full(width, -1, dtype=np.int64),
            last=np.zeros(width, dtype=np.int64),
            period=np.zeros(width, dtype=np.int64),
            before=np.zeros(width),
            after=np.zeros(width),
            lost=np.zeros(width),
        )

    def update(self, memory: PeriodicMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        given = np.flatnonzero(~np.isnan(row))
        push(memory.latest, memory.given, given, row[given])
        push(memory.rows, memory.given, given, index)
        memory.given[given] += 1
        due = given[memory.given[given] % LOOK == 0]
        if not due.size:
            return []
        usual = median(memory.latest[due])
        slow = memory.latest[due] > self.ratio * usual[:, None]
        some = (slow.sum(axis=1) >= self.times) | (memory.onset[due] >= 0)
        return [
            alarm
            for place in np.flatnonzero(some)
            for alarm in self._look(memory, index, int(due[place]), float(usual[place]))
        ]

    def _look(self, memory: PeriodicMemory, index: int, one: int, usual: float) -> list[Alarm]:
        """Judge the distances between the last slow rows of a series."""
        count = min(int(memory.given[one]), self.window)
        columns = latest_columns(self.window, memory.given[one, None], count)[0]
        values, rows = memory.latest[one, columns], memory.rows[one, columns]
        places = np.flatnonzero(values > self.ratio * usual)
        apart = _distances(rows, places)
        latest = apart[1 - self.times :]
        period = int(latest[0]) if latest.size == self.times - 1 and (latest == latest[0]).all() else 0
        if period >= self.shortest and index <= _latest(rows, int(rows[places[-1]]) + period, period):
            behind = np.flatnonzero(apart[::-1] != period)
            since = places[-int(behind[0]) - 1 :] if behind.size else places
            excess = float(np.median(values[since])) - usual
            lost = excess / (period * usual + excess)
            if lost >= self.worth:
                return self._harms(memory, index, one, (int(rows[since[0]]), int(rows[since[-1]]), period, lost, usual))
        return [] if memory.onset[one] < 0 else self._end(memory, one)

    def _harms(
        self, memory: PeriodicMemory, index: int, one: int, seen: tuple[int, int, int, float, float]
    ) -> list[Alarm]:
        first, last, period, lost, usual = seen
        opened = memory.onset[one] < 0
        memory.last[one] = last
        if not opened and period == memory.period[one] and lost < 1.5 * memory.lost[one]:
            return []
        if opened:
            memory.onset[one], memory.before[one] = first, usual
        memory.period[one], memory.lost[one] = period, lost
        memory.after[one] = usual * (1 + period * lost / (1 - lost))
        return [self._alarm(memory, index, one, over=False)]

    def _end(self, memory: PeriodicMemory, one: int) -> list[Alarm]:
        alarm = self._alarm(memory, int(memory.last[one]), one, over=True)
        memory.onset[one] = -1
        return [alarm]

    def _alarm(self, memory: PeriodicMemory, index: int, one: int, over: bool) -> Alarm:
        before, lost = float(memory.before[one]), float(memory.lost[one])
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=before,
            after=float(memory.after[one]),
            limit=self.ratio * before,
            score=min(lost / self.worth, SUREST),
            direction=1,
            over=over,
            numbers={"period": float(memory.period[one]), "lost": lost},
        )


def _distances(rows: Ints, places: Ints) -> Ints:
    """Rows from one slow row to the next, missing ones counted; where just the slow row between two is missing, half.

    Args:
        rows: numbers of all rows looked at.
        places: which of them are slow.
    """
    slow = rows[places]
    apart = np.diff(slow)
    if not apart.size:
        return apart
    shortest = int(apart.min())
    due = slow[:-1] + shortest
    return np.where((apart == 2 * shortest) & ~np.isin(due, rows), shortest, apart)


def _latest(rows: Ints, due: int, period: int) -> int:
    """The last row in which the next slow one may come: when it is due, or once more where that row is missing."""
    return due + period if due < rows[-1] and due not in rows else due
