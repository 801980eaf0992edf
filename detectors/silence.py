"""Sources that have stopped speaking: some of them, or nearly all at once."""

import numpy as np

from detectors.base import Alarm, Floats, check_row, require
from detectors.sawtooth import SawtoothMemory, blank_sawtooth, events, note

KINDS = ("", "some", "all")
KNOWN = 3
"""Intervals seen before a source can be missed."""
USUAL = 0.9
"""Quantile of its last intervals that counts as usual: a source that speaks in bursts is held to its longer pauses.

One silence in ten or more intervals does not move it, so silences that were reported may be learned from too: a source
that comes less often from now on is understood after a few alarms.
"""


class Silence:
    """Find sources that have fallen silent, and tell one dead node from telemetry that is lost altogether.

    A source is silent when it has not spoken for several of its own usual intervals. While at least half of the sources
    speak, the silent ones are `some`: they, or the way from them, have a fault. When fewer than half speak the fault is
    more likely to lie where all their messages pass, and the kind is `all`. A source speaks, for this purpose, as long
    as its age is under half of what would make it silent, so that the first of many is not taken for the only one.

    Args:
        factor: times a source's usual interval (nine tenths of its last 32 were not longer).
        floor: seconds of silence that are never too long.

    Input: seconds since each source last spoke, 0 or more; NaN = not known, or not expected to speak. A source is
        judged after three intervals.
    Output: an alarm dated to the row in which the source last spoke; `before` is its usual interval, `after` its age,
        `numbers` the share of sources that speak. One with `over` when it speaks again.
    Cost: O(32) time and 40 numbers per source.
    Raises: ValueError for a parameter out of range (when built), or a row infinite, negative or of another width.

    >>> silence = Silence(factor=5.0, floor=20.0)
    >>> memory = silence.blank(3)
    >>> ages = [[0.0, 0.0, 0.0]] * 4 + [[0.0, 0.0, 15.0], [0.0, 1.0, 30.0], [1.0, 0.0, 0.0]]
    >>> found = [a for i, row in enumerate(ages) for a in silence.update(memory, i, np.array(row))]
    >>> [(a.series, a.kind, a.index, a.onset, a.over) for a in found]
    [(2, 'some', 5, 3, False), (2, 'some', 5, 3, True)]
    """

    name = "silence"

    def __init__(self, factor: float = 5.0, floor: float = 120.0) -> None:
        require(factor > 1, "factor", "more than 1")
        require(floor > 0, "floor", "more than 0 seconds")
        self.factor, self.floor = factor, floor

    def blank(self, width: int) -> SawtoothMemory:
        """Make the memory of `width` sources."""
        return blank_sawtooth(width)

    def update(self, memory: SawtoothMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row of ages, see `Detector.update`."""
        row = check_row(memory, row)
        require(not (row < 0).any(), "row", "ages, never negative,")
        happened = events(memory, row)
        limits = self.limits(memory)
        known = ~np.isnan(row) & ~np.isnan(limits)
        speaking = float((row[known] <= limits[known] / 2).mean()) if known.any() else 1.0
        back = np.flatnonzero(happened & (memory.kind > 0))
        alarms = [self._alarm(memory, int(memory.last[one]), int(one), speaking, over=True) for one in back]
        note(memory, index, row, happened, happened, share=USUAL)
        np.copyto(memory.reported, 0.0, where=happened)
        np.copyto(memory.kind, 0, where=happened)
        for series in np.flatnonzero(known & (row > limits) & (memory.kind == 0)):
            memory.kind[series] = 1 if speaking >= 0.5 else 2
            memory.reported[series], memory.limit[series] = row[series], limits[series]
            alarms.append(self._alarm(memory, index, int(series), speaking, over=False))
        return alarms

    def limits(self, memory: SawtoothMemory) -> Floats:
        """Give the age in seconds that makes a source silent; NaN where its interval is not known yet."""
        usual = np.maximum(self.factor * memory.typical, self.floor)
        return np.where(memory.teeth >= KNOWN, usual, np.nan)

    def _alarm(self, memory: SawtoothMemory, index: int, series: int, speaking: float, over: bool) -> Alarm:
        age, limit = float(memory.age[series]), float(memory.limit[series])
        return Alarm(
            series=series,
            index=index,
            onset=int(memory.since[series]),
            before=float(memory.typical[series]),
            after=age,
            limit=limit,
            score=max(1.0, age / limit),
            direction=1,
            over=over,
            kind=KINDS[memory.kind[series]],
            numbers={"speaking": speaking},
        )
