"""Ages that grow until something happens and then fall: how long one series usually takes between two of its events."""

import numpy as np

from detectors.base import Flags, Floats, Ints, Memory
from detectors.robust import push, quantiles

TEETH = 32


class SawtoothMemory(Memory):
    """Per series: the last age, the heights it usually reaches, and the open episode.

    Attributes:
        age: last reading, NaN before the first.
        heights: seconds reached before each of the last events, a ring, shape (series, teeth).
        teeth: events ever learned from.
        typical: usual height in seconds, NaN before one was learned.
        since: row of the last event, or of the first reading.
        reported: age last reported; 0 where no episode is open.
        limit: age that was exceeded when the episode was raised.
        last: last row of the age before this one.
        kind: which kind of episode is open, in the detector's own numbering.
    """

    age: Floats
    heights: Floats
    teeth: Ints
    typical: Floats
    since: Ints
    reported: Floats
    limit: Floats
    last: Ints
    kind: Ints


def blank_sawtooth(width: int) -> SawtoothMemory:
    """Make the memory of `width` series."""
    return SawtoothMemory(
        width=width,
        age=np.full(width, np.nan),
        heights=np.full((width, TEETH), np.nan),
        teeth=np.zeros(width, dtype=np.int64),
        typical=np.full(width, np.nan),
        since=np.full(width, -1, dtype=np.int64),
        reported=np.zeros(width),
        limit=np.zeros(width),
        last=np.zeros(width, dtype=np.int64),
        kind=np.zeros(width, dtype=np.int64),
    )


def events(memory: SawtoothMemory, row: Floats) -> Flags:
    """Tell for which series something has happened: the age fell, or is 0 in this very row.

    An age that stands still means nothing: time stood still, or the keeper allowed for an announced phase.
    """
    happened: Flags = (row < memory.age) | (row == 0)
    return happened


def note(memory: SawtoothMemory, index: int, row: Floats, happened: Flags, taught: Flags, share: float) -> None:
    """Learn the heights of the teeth that have just ended, and keep the row.

    Args:
        memory: changed in place.
        index: number of the row.
        row: ages in seconds, NaN = no reading.
        happened: as told by `events`.
        taught: those of them whose teeth are learned from.
        share: which quantile of the heights is the usual one, 0.5 the median.
    """
    series = np.flatnonzero(taught & ~np.isnan(memory.age))
    if series.size:
        push(memory.heights, memory.teeth, series, memory.age[series])
        memory.teeth[series] += 1
        memory.typical[series] = quantiles(memory.heights[series], (share,))[0]
    given = ~np.isnan(row)
    np.copyto(memory.since, index, where=given & (happened | (memory.since < 0)))
    np.copyto(memory.age, row, where=given)
    np.copyto(memory.last, index, where=given)
