"""Counters that suddenly count faster: retransmits, memory errors, retries."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, fits, per_series, require

FADING = 0.995
"""Weight of the past in the usual rate, per row."""
FORGETTING = 0.9995
"""The same for the largest cluster, which comes rarely."""
SUREST = 100.0


class CounterRateMemory(Memory):
    """Per series: the last reading, what it usually grows by, and the open episode.

    Attributes:
        last: last reading, NaN before the first.
        top: the highest reading ever.
        grown: growth in the last rows, a ring, shape (series, window).
        rows: rows with growth known.
        usual: growth in the healthy past, fading.
        weight: rows that sum speaks of, fading likewise.
        most: largest growth within one window of the healthy past, fading.
        onset: first row of the open episode, -1 where none is open.
        ended: last row of it that grew too fast.
        calm: rows since then.
        total: growth since the onset.
        before: usual growth per row at the onset.
        limit: growth within one window that was exceeded.
        reported: largest growth within one window that was told.
    """

    last: Floats
    top: Floats
    grown: Floats
    rows: Ints
    usual: Floats
    weight: Floats
    most: Floats
    onset: Ints
    ended: Ints
    calm: Ints
    total: Floats
    before: Floats
    limit: Floats
    reported: Floats


class CounterRate:
    """Find a burst in what is counted, told from the rate at which that counter has always grown.

    The growth of the last rows must be so unlikely at the usual rate that it is no chance, and more than any stretch
    of the healthy past has shown by `margin`, for errors come in clusters. A counter that fell has been reset and has
    grown from 0, and one that is back at once where it was, or beyond, had not: a reading of 0 was none. A counter that
    stands still, or repeats a stale reading, grows by nothing.

    Args:
        floor: smallest growth worth an alarm, in counts; one number, or one per series.
        window: rows whose growth is looked at together.
        sure: logarithm of how unlikely the growth must be at the usual rate.
        margin: times the largest growth within a window so far, more than 1.
        warmup: rows before the first alarm.
        calm: rows without such growth that end an episode.

    Input: readings of counters, 0 or more; NaN = no reading, and what was counted meanwhile counts in the next row.
    Output: an alarm in the row in which the growth is too much, dated to the first row of it; `before` is the usual
        growth per row and `after` that since the onset, `limit` per row too. A revision when it has doubled; one with
        `over` after `calm` rows. Numbers: `growth` since the onset.
    Cost: O(window) time and 20 numbers per series.
    Raises: ValueError for a parameter out of range (when built), or a row negative, infinite or of another width.
    Source: H. Chernoff, Annals of Mathematical Statistics 23 (1952), 493-507, for the bound on a Poisson tail.

    >>> counter = CounterRate(floor=10.0)
    >>> memory = counter.blank(1)
    >>> readings = [float(i // 5) for i in range(60)] + [12.0, 60.0, 3.0, 3.0]
    >>> found = [a for i, x in enumerate(readings) for a in counter.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, round(a.before, 1), a.numbers["growth"]) for a in found]
    [(61, 61, 0.2, 48.0)]
    """

    name = "counter_rate"

    def __init__(
        self,
        floor: float | Floats = 1.0,
        window: int = 5,
        sure: float = 12.0,
        margin: float = 2.5,
        warmup: int = 30,
        calm: int = 20,
    ) -> None:
        self.floor = per_series("floor", floor)
        require(window >= 1, "window", "at least 1 row")
        require(sure > 0, "sure", "more than 0")
        require(margin > 1, "margin", "more than 1")
        require(warmup >= window, "warmup", "at least `window` rows")
        require(calm >= window, "calm", "at least `window` rows")
        self.window, self.sure, self.margin, self.warmup, self.calm = window, sure, margin, warmup, calm

    def blank(self, width: int) -> CounterRateMemory:
        """Make the memory of `width` series; refuse an array of floors of another width."""
        fits("floor", self.floor, width)
        return CounterRateMemory(
            width=width,
            last=np.full(width, np.nan),
            top=np.zeros(width),
            grown=np.zeros((width, self.window)),
            rows=np.zeros(width, dtype=np.int64),
            usual=np.zeros(width),
            weight=np.zeros(width),
            most=np.zeros(width),
            onset=np.full(width, -1, dtype=np.int64),
            ended=np.zeros(width, dtype=np.int64),
            calm=np.zeros(width, dtype=np.int64),
            total=np.zeros(width),
            before=np.zeros(width),
            limit=np.zeros(width),
            reported=np.zeros(width),
        )

    def update(self, memory: CounterRateMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row of readings, see `Detector.update`."""
        row = check_row(memory, row)
        require(not (row < 0).any(), "row", "counts, never negative,")
        known = ~np.isnan(row) & ~np.isnan(memory.last)
        growth = np.where(known, _growth(memory, row), 0.0)
        self._keep(memory, row)
        places = np.flatnonzero(known)
        memory.grown[places, memory.rows[places] % self.window] = growth[places]
        memory.rows += known
        recent = memory.grown.sum(axis=1)
        limits = self._limits(memory)
        fast = known & (memory.rows > self.warmup) & (recent > limits) & (growth > 0)
        alarms = self._open(memory, index, growth, recent, limits, fast)
        self._learn(memory, growth, recent, known & (memory.onset < 0))
        return alarms + self._follow(memory, known & ~fast & (memory.onset >= 0), growth)

    def go_on_from(self, memory: CounterRateMemory, row: Floats) -> None:
        """Take readings that neither alarm nor teach: what was counted up to them is left out.

        Args:
            memory: changed in place.
            row: readings, shape (series,), NaN = no reading.

        Raises:
            ValueError: as `update`.
        """
        row = check_row(memory, row)
        require(not (row < 0).any(), "row", "counts, never negative,")
        self._keep(memory, row)

    def _keep(self, memory: CounterRateMemory, row: Floats) -> None:
        np.copyto(memory.last, row, where=~np.isnan(row))
        memory.top = np.fmax(memory.top, row)

    def close(self, memory: CounterRateMemory) -> None:
        """End all episodes without a word: what they were about is over."""
        memory.onset[:] = -1

    def _limits(self, memory: CounterRateMemory) -> Floats:
        """Give the growth within one window that is too much.

        The growth k of which k log(k / m) - k + m reaches `sure`, m the usual one, lies below m + s + sqrt(2 m s).
        """
        mean = self.window * (memory.usual + 0.5) / (memory.weight + 1.0)
        chance = mean + self.sure + np.sqrt(2 * mean * self.sure)
        rare = self.sure / np.maximum(np.log(self.sure / mean) - 1, 1.0)  # where next to nothing is usual
        likely = np.where(mean < 1, np.minimum(rare, chance), chance)
        least = np.where(memory.usual > 0, likely, 0.0)
        floor = np.broadcast_to(self.floor, memory.width)
        limits: Floats = np.maximum(np.maximum(least, self.margin * memory.most), np.nextafter(floor, 0.0))
        return limits

    def _learn(self, memory: CounterRateMemory, growth: Floats, recent: Floats, healthy: Flags) -> None:
        memory.usual = np.where(healthy, memory.usual * FADING + growth, memory.usual)
        memory.weight = np.where(healthy, memory.weight * FADING + 1.0, memory.weight)
        memory.most = np.where(healthy, np.maximum(memory.most * FORGETTING, recent), memory.most)

    def _open(
        self, memory: CounterRateMemory, index: int, growth: Floats, recent: Floats, limits: Floats, fast: Flags
    ) -> list[Alarm]:
        alarms = []
        for one in np.flatnonzero(fast).tolist():
            opened = memory.onset[one] < 0
            if opened:
                memory.onset[one], memory.total[one] = index, 0.0
                memory.before[one] = memory.usual[one] / max(memory.weight[one], 1.0)
                memory.limit[one], memory.reported[one] = limits[one] / self.window, recent[one]
            memory.total[one] += growth[one]
            memory.ended[one], memory.calm[one] = index, 0
            if opened or recent[one] >= 2 * memory.reported[one]:
                memory.reported[one] = recent[one]
                alarms.append(self._alarm(memory, index, one, over=False))
        return alarms

    def _follow(self, memory: CounterRateMemory, slower: Flags, growth: Floats) -> list[Alarm]:
        memory.total += np.where(slower, growth, 0.0)
        memory.calm += slower
        ended = np.flatnonzero(slower & (memory.calm >= self.calm))
        alarms = [self._alarm(memory, int(memory.ended[one]), int(one), over=True) for one in ended]
        memory.onset[ended] = -1
        # Half of it is believed: what comes again and again is the habit of this counter, one outage is not.
        memory.most[ended] = np.maximum(memory.most[ended], memory.reported[ended] / 2)
        return alarms

    def _alarm(self, memory: CounterRateMemory, index: int, one: int, over: bool) -> Alarm:
        limit, reported = float(memory.limit[one]), float(memory.reported[one]) / self.window
        return Alarm(
            series=one,
            index=index,
            onset=int(memory.onset[one]),
            before=float(memory.before[one]),
            after=reported,
            limit=limit,
            score=min(max(reported / limit, 1.0), SUREST) if limit > 0 else SUREST,
            direction=1,
            over=over,
            numbers={"growth": float(memory.total[one])},
        )


def _growth(memory: CounterRateMemory, row: Floats) -> Floats:
    """What was counted since the last reading; a source that read 0 for a moment has not counted all of it again."""
    back = (memory.last < memory.top) & (row >= memory.top)
    grown: Floats = np.where(row >= memory.last, row - np.where(back, memory.top, memory.last), row)
    return grown
