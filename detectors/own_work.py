"""The last rows of every rank's own work, held against what its peers needed for the same row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.base import Floats, Ints, Memory
from detectors.peers import among_peers, whole_row
from detectors.robust import latest_columns

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
        shape = (width, self.held)  # kept column by column in memory, for a row of all ranks is written at once
        return {
            "group": np.zeros(width, dtype=np.int64),
            "seconds": np.full(shape, np.nan, order="F"),
            "ratio": np.full(shape, np.nan, order="F"),
            "saving": np.full(shape, np.nan, order="F"),
            "rows": np.zeros(shape, dtype=np.int64, order="F"),
            "pushed": np.zeros(width, dtype=np.int64),
        }

    def note(self, memory: OwnWorkMemory, index: int, row: Floats) -> Ints:
        """Keep a row of seconds, and give the ranks that it judges: they worked, and enough of their peers did."""
        whole = whole_row(row, memory.group, self.peers, APART)
        if whole is not None:
            every = slice(None)
            kept = (row, whole.in_row(whole.values / whole.median), whole.in_row(whole.saving))
            self._keep_row(memory, index, every, kept)
            return np.arange(row.size)
        row = np.where(row > 0, row, np.nan)
        peers = among_peers(row, memory.group)
        judged = np.flatnonzero((row > 0) & (memory.group != APART) & (peers.reporting >= self.peers))
        own = row[judged]
        with np.errstate(over="ignore"):  # next to no work saves nothing
            saving = np.maximum(1 - peers.rest[judged] / own, 0.0)
        self._keep_row(memory, index, judged, (own, own / peers.median[judged], saving))
        return judged

    def _keep_row(
        self, memory: OwnWorkMemory, index: int, chosen: slice | Ints, kept: tuple[Floats, Floats, Floats]
    ) -> None:
        place = self._place(memory, chosen)
        memory.seconds[place], memory.ratio[place], memory.saving[place] = kept
        memory.rows[place] = index
        memory.pushed[chosen] += 1

    def in_and_out(self, memory: OwnWorkMemory, window: int) -> tuple[Floats, Floats]:
        """Give each rank's newest ratio, and the one that has just left its last `window` rows; NaN where none has.

        The ring holds more than the window, or the row that left is gone.
        """
        place = self._place(memory, slice(None), -1)
        if isinstance(place[1], int):
            return memory.ratio[place], memory.ratio[:, (place[1] - window) % self.held]
        return memory.ratio[place], memory.ratio[place[0], (place[1] - window) % self.held]

    def _place(self, memory: OwnWorkMemory, chosen: slice | Ints, ahead: int = 0) -> tuple[slice | Ints, int | Ints]:
        """Give the places in a ring of the row to come, or of one before it; one column where all stand together."""
        pushed = memory.pushed
        if isinstance(chosen, slice) and pushed.size > 0 and bool((pushed == pushed[0]).all()):
            return slice(None), int(pushed[0] + ahead) % self.held
        series = np.arange(pushed.size)[chosen]
        return series, (pushed[series] + ahead) % self.held

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
