"""Progress that has stopped: the time since the last step has outgrown every usual pause."""

import numpy as np

from detectors.base import Alarm, Floats, check_row, require
from detectors.sawtooth import SawtoothMemory, blank_sawtooth, events, note


class Stalled:
    """Find a job or a rank that makes no progress any more: a hang, long before any time-out of the trainer.

    It learns how long a series usually takes from one progress to the next and alarms when the age outgrows that by a
    factor. It does not know why: a phase that takes longer (evaluation, checkpoint) is the keeper's to allow for, by
    holding the age still while an announced phase lasts. An age held still neither ends an episode nor teaches.

    Args:
        factor: times the usual time between two progresses (the median of the last 32).
        floor: seconds that are never too long.
        first: seconds allowed before any progress was seen, for start-up and compilation.

    Input: seconds since the last progress per series, 0 or more, growing until progress lets it fall; NaN = no reading.
    Output: an alarm dated to the row of the last progress; `before` is the usual time (NaN where none was learned),
        `after` the age. A revision each time the age has doubled; one with `over` at the next progress.
    Cost: O(32) time and 40 numbers per series.
    Raises: ValueError for a parameter out of range (when built), or a row infinite, negative or of another width.

    >>> stalled = Stalled(factor=10.0, floor=60.0)
    >>> memory = stalled.blank(1)
    >>> ages = [0.0, 5.0, 2.0, 7.0, 1.0, 6.0, 30.0, 65.0, 100.0, 3.0]
    >>> found = [a for i, x in enumerate(ages) for a in stalled.update(memory, i, np.array([x]))]
    >>> [(a.index, a.onset, a.before, a.after, a.limit, a.over) for a in found]
    [(7, 4, 6.0, 65.0, 60.0, False), (8, 4, 6.0, 100.0, 60.0, True)]
    """

    name = "stalled"

    def __init__(self, factor: float = 15.0, floor: float = 300.0, first: float = 3600.0) -> None:
        require(factor > 1, "factor", "more than 1")
        require(floor > 0, "floor", "more than 0 seconds")
        require(first > 0, "first", "more than 0 seconds")
        self.factor, self.floor, self.first = factor, floor, first

    def blank(self, width: int) -> SawtoothMemory:
        """Make the memory of `width` series."""
        return blank_sawtooth(width)

    def update(self, memory: SawtoothMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row of ages, see `Detector.update`."""
        row = check_row(memory, row)
        require(not (row < 0).any(), "row", "ages, never negative,")
        happened = events(memory, row)
        ended = np.flatnonzero(happened & (memory.reported > 0))
        alarms = [self._alarm(memory, int(memory.last[one]), int(one), over=True) for one in ended]
        note(memory, index, row, happened, happened & (memory.reported == 0), share=0.5)
        np.copyto(memory.reported, 0.0, where=happened)
        limits = self.limits(memory)
        grown = np.where(memory.reported > 0, row >= 2 * memory.reported, row > limits)
        for series in np.flatnonzero(grown):
            if memory.reported[series] == 0:
                memory.limit[series] = limits[series]
            memory.reported[series] = row[series]
            alarms.append(self._alarm(memory, index, int(series), over=False))
        return alarms

    def limits(self, memory: SawtoothMemory) -> Floats:
        """Give the age in seconds that is too long, per series."""
        usual = np.maximum(self.factor * memory.typical, self.floor)
        return np.where(np.isnan(memory.typical), self.first, usual)

    def _alarm(self, memory: SawtoothMemory, index: int, series: int, over: bool) -> Alarm:
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
        )
