"""Pauses for a checkpoint that have become long, or that cost too much of the time."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, require
from detectors.robust import median, push

KEPT, FEWEST = 16, 2
"""Pauses in order that are remembered, and that tell what is out of proportion."""
PAUSE, TRAINED = 0, 1
"""The two series: seconds of the pause, seconds trained since the last save ended."""


class CheckpointMemory(Memory):
    """The pauses that were in order, and the open episode; the second series' part of each array is not used.

    Attributes:
        pauses: seconds of the last pauses that were in order, a ring, shape (2, kept).
        pushed: how many there ever were.
        alarmed: True while an episode is open.
        onset: step of its first save.
        last: step of its last save so far.
        reported: pause last reported, seconds.
        limit: what it was held against, seconds.
        share: pause over pause and training time, NaN where not known.
    """

    pauses: Floats
    pushed: Ints
    alarmed: Flags
    onset: Ints
    last: Ints
    reported: Floats
    limit: Floats
    share: Floats


class Checkpoint:
    """Find checkpoints that hold the job up longer than they used to, or too often for their length.

    A pause alarms when it is over the limit, and over the job's own usual pause by a factor; where no earlier pause is
    known, when it takes too large a share of the time since the last one. A planned pause of 40 s every three hours is
    in order. Slow growth is measured against the median of the last 16 pauses that were in order. A pause that is out
    of all proportion to the longest of them need not be quite so long, and is told while it lasts.

    Args:
        limit_seconds: a shorter pause alarms only where it is out of proportion.
        share: of the time since the last save ended, pause included; 0.05 is 5 %.
        growth: times the usual pause.
        least_seconds: a shorter pause never alarms.
        beyond: times the longest pause that was in order: out of proportion, where two were.

    Input: one row per save: pause in seconds and seconds trained since the last save ended; the index is its step. NaN
        = not known; without the pause the row says nothing.
    Output: an alarm for series 0 with the share, and the usual pause where known; a revision when the pause has grown
        by half again; one with `over`, dated to the last save that was too long, at the next one in order.
    Cost: O(16) per save.
    Raises: ValueError for a parameter out of range (when built), a width other than 2, an infinite or negative row.

    >>> checkpoint = Checkpoint()
    >>> memory = checkpoint.blank(2)
    >>> saves = [(12.0, 900.0), (13.0, 900.0), (41.0, 900.0), (12.0, 900.0)]
    >>> found = [a for i, save in enumerate(saves) for a in checkpoint.update(memory, i * 100, np.array(save))]
    >>> [(a.index, a.before, a.after, a.limit, round(a.numbers["share"], 3), a.over) for a in found]
    [(200, 12.5, 41.0, 30.0, 0.044, False), (200, 12.5, 41.0, 30.0, 0.044, True)]
    """

    name = "checkpoint"

    def __init__(
        self,
        limit_seconds: float = 30.0,
        share: float = 0.05,
        growth: float = 2.0,
        least_seconds: float = 20.0,
        beyond: float = 3.0,
    ) -> None:
        require(limit_seconds > 0, "limit_seconds", "more than 0")
        require(0 < share < 1, "share", "more than 0, less than 1")
        require(growth > 1, "growth", "more than 1")
        require(0 < least_seconds <= limit_seconds, "least_seconds", "more than 0, at most `limit_seconds`")
        require(beyond >= growth, "beyond", "at least `growth`")
        self.limit_seconds, self.share, self.growth = limit_seconds, share, growth
        self.least_seconds, self.beyond = least_seconds, beyond

    def blank(self, width: int) -> CheckpointMemory:
        """Make the memory of one job's saves; the width is 2."""
        require(width == 2, "width", "2 (pause, seconds trained)")
        return CheckpointMemory(
            width=width,
            pauses=np.full((width, KEPT), np.nan),
            pushed=np.zeros(width, dtype=np.int64),
            alarmed=np.zeros(width, dtype=np.bool_),
            onset=np.zeros(width, dtype=np.int64),
            last=np.zeros(width, dtype=np.int64),
            reported=np.zeros(width),
            limit=np.zeros(width),
            share=np.full(width, np.nan),
        )

    def update(self, memory: CheckpointMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one save, see `Detector.update`."""
        row = check_row(memory, row)
        require(not (row < 0).any(), "row", "seconds, never negative,")
        pause, trained = float(row[PAUSE]), float(row[TRAINED])
        if np.isnan(pause):
            return []
        share = pause / (pause + trained) if pause + trained > 0 else float("nan")
        limit = self.limit(memory, trained)
        if pause <= limit:
            return self._settle(memory, pause)
        memory.last[PAUSE] = index
        opened = not memory.alarmed[PAUSE]
        if not opened and pause < 1.5 * memory.reported[PAUSE]:
            return []
        if opened:
            memory.alarmed[PAUSE], memory.onset[PAUSE] = True, index
        memory.reported[PAUSE], memory.limit[PAUSE], memory.share[PAUSE] = pause, limit, share
        return [self._alarm(memory, index, over=False)]

    def lasting(self, memory: CheckpointMemory, index: int, pause: float) -> list[Alarm]:
        """Take a pause that goes on: it may be too long already; `update` has to be told of it once more at its end.

        Args:
            memory: changed in place.
            index: step of the save.
            pause: seconds so far.
        """
        limit = self.limit(memory, float("nan"))
        if memory.alarmed[PAUSE] or memory.pushed[PAUSE] < FEWEST or pause <= limit:
            return []
        memory.alarmed[PAUSE], memory.onset[PAUSE], memory.last[PAUSE] = True, index, index
        memory.limit[PAUSE], memory.share[PAUSE], memory.reported[PAUSE] = limit, np.nan, pause
        alarm = self._alarm(memory, index, over=False)
        memory.reported[PAUSE] = 0.0  # whatever it has become at its end is a revision
        return [alarm]

    def usual(self, memory: CheckpointMemory) -> float:
        """Give the median of the pauses that were in order, seconds; NaN before the first."""
        return float(median(memory.pauses[PAUSE]))

    def limit(self, memory: CheckpointMemory, trained: float) -> float:
        """Give the pause in seconds that is still in order.

        Args:
            memory: is not changed.
            trained: seconds since the last save ended, NaN where not known.
        """
        usual = self.usual(memory)
        if not np.isnan(usual):
            plain = max(self.limit_seconds, self.growth * usual)
            far = max(self.least_seconds, self.beyond * float(np.nanmax(memory.pauses[PAUSE])))
            return min(plain, far) if memory.pushed[PAUSE] >= FEWEST else plain
        affordable = trained * self.share / (1 - self.share)
        return float("inf") if np.isnan(affordable) else max(self.limit_seconds, affordable)

    def _settle(self, memory: CheckpointMemory, pause: float) -> list[Alarm]:
        alarms = [self._alarm(memory, int(memory.last[PAUSE]), over=True)] if memory.alarmed[PAUSE] else []
        memory.alarmed[PAUSE] = False
        push(memory.pauses, memory.pushed, np.array([PAUSE]), np.array([pause]))
        memory.pushed[PAUSE] += 1
        return alarms

    def _alarm(self, memory: CheckpointMemory, index: int, over: bool) -> Alarm:
        usual, pause, limit = self.usual(memory), float(memory.reported[PAUSE]), float(memory.limit[PAUSE])
        numbers = {"share": float(memory.share[PAUSE]), "usual": usual}
        return Alarm(
            series=PAUSE,
            index=index,
            onset=int(memory.onset[PAUSE]),
            before=usual,
            after=pause,
            limit=limit,
            score=pause / limit,
            direction=1,
            over=over,
            numbers={name: number for name, number in numbers.items() if not np.isnan(number)},
        )
