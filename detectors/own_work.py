"""The last rows of every rank's own work, held against what its peers needed for the same row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.base import Floats, Ints, Memory
from detectors.peers import among_peers
from detectors.robust import latest_columns, push

APART = -1
"""Group of a rank that is not compared."""


class OwnWorkMemory(Memory):
    """Per rank: whom it is compared with, and its last rows.

    Attributes:
        group: peers have the same number; -1 = not compared.
        seconds: own work in the last rows in which the rank was judged, a ring, shape (ranks, held).
        ratio: the same over the median of its group.
        saving: share of the slowest rank's time that the job would have saved without this rank.
        rows: their row numbers.
        pushed: rows ever judged, since the last episode.
    """

    group: Ints
    seconds: Floats
    ratio: Floats
    saving: Floats
    rows: Ints
    pushed: Ints


class OwnWork:
    """Keep the rows in which ranks can be judged, and read them back.

    Args:
        held: rows kept of each rank.
        peers: members of a group that must report, the rank included, or the row judges none of them.
    """

    def __init__(self, held: int, peers: int) -> None:
        self.held, self.peers = held, peers

    def blank(self, width: int) -> dict[str, NDArray[Any]]:  # Any: numbers and row numbers
        """Make the fields of an `OwnWorkMemory`, all ranks of one group."""
        return {
            "group": np.zeros(width, dtype=np.int64),
            "seconds": np.full((width, self.held), np.nan),
            "ratio": np.full((width, self.held), np.nan),
            "saving": np.full((width, self.held), np.nan),
            "rows": np.zeros((width, self.held), dtype=np.int64),
            "pushed": np.zeros(width, dtype=np.int64),
        }

    def note(self, memory: OwnWorkMemory, index: int, row: Floats) -> Ints:
        """Keep a row of seconds, and give the ranks that it judges: they worked, and enough of their peers did."""
        row = np.where(row > 0, row, np.nan)
        peers = among_peers(row, memory.group)
        judged = np.flatnonzero((row > 0) & (memory.group != APART) & (peers.reporting >= self.peers))
        own = row[judged]
        push(memory.seconds, memory.pushed, judged, own)
        push(memory.ratio, memory.pushed, judged, own / peers.median[judged])
        with np.errstate(over="ignore"):  # next to no work saves nothing
            push(memory.saving, memory.pushed, judged, np.maximum(1 - peers.rest[judged] / own, 0.0))
        push(memory.rows, memory.pushed, judged, index)
        memory.pushed[judged] += 1
        return judged

    def ratios(self, memory: OwnWorkMemory, count: int) -> Floats:
        """Give the last ratios of all ranks, shape (ranks, count), oldest first; NaN where a rank has fewer."""
        return np.take_along_axis(memory.ratio, latest_columns(self.held, memory.pushed, count), axis=1)

    def columns(self, memory: OwnWorkMemory, rank: int, count: int) -> Ints:
        """Give the columns of a rank's last rows, at most so many, oldest first."""
        count = min(count, int(memory.pushed[rank]), self.held)
        latest: Ints = latest_columns(self.held, memory.pushed[rank, None], count)[0]
        return latest

    def slow_since(self, memory: OwnWorkMemory, rank: int, limit: float) -> Ints:
        """Give the columns since a rank became slow: its rows from there on are nearer to the slow level than to 1."""
        columns = self.columns(memory, rank, self.held)
        ratio = memory.ratio[rank, columns]
        level = float(np.median(ratio[ratio > (1 + limit) / 2]))
        gain = np.cumsum((np.clip(ratio, 1.0, level) - (1 + level) / 2)[::-1])[::-1]
        since: Ints = columns[int(np.argmax(gain)) :]
        return since

    def slow_until(self, memory: OwnWorkMemory, rank: int, limit: float, count: int) -> tuple[int, Ints]:
        """Give the last row of a rank that was slow, and the columns after it, out of its last `count` rows."""
        columns = self.columns(memory, rank, count)
        away = np.where(memory.ratio[rank, columns] > (1 + limit) / 2, 1, -1)
        last = int(np.argmax(np.cumsum(away)))
        return int(memory.rows[rank, columns[last]]), columns[last + 1 :]

    def keep(self, memory: OwnWorkMemory, rank: int, columns: Ints) -> None:
        """Forget a rank's rows but these: the slow ones of an episode that is over must not raise it again."""
        for ring in (memory.seconds, memory.ratio, memory.saving):
            kept = ring[rank, columns]
            ring[rank] = np.nan
            ring[rank, : kept.size] = kept
        memory.rows[rank, : columns.size] = memory.rows[rank, columns]
        memory.pushed[rank] = columns.size
