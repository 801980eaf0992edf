"""The last rows of every rank's own work, held against what its peers needed for the same row."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from detectors.base import Floats, Ints, Memory
from detectors.peers import Whole, among_peers, is_one_number, whole_row
from detectors.robust import latest_columns

APART = -1
"""Group of a rank that is not compared."""


@lru_cache(maxsize=64)
def everybody(width: int) -> Ints:
    """Give the indices of all ranks, not to be written to."""
    every = np.arange(width)
    every.setflags(write=False)
    return every


def _blank_ring(width: int, held: int, blank: float) -> NDArray[Any]:  # Any: numbers or row numbers
    """Make a ring of shape (ranks, held) in which a row of all ranks lies in one piece, for it is written at once.

    Rows a power of two apart would share few lines of the processor's cache, and a rank's rows be slow to read.
    """
    apart = width + 8 if width % 64 == 0 else width
    return np.full((held, apart), blank)[:, :width].T


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


class Noted(NamedTuple):
    """Whom a row judges.

    Attributes:
        ranks: their indices.
        column: where the row stands in the rings of all ranks; -1 where they stand apart, or not all were judged.
    """

    ranks: Ints
    column: int


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
            "seconds": _blank_ring(width, self.held, np.nan),
            "ratio": _blank_ring(width, self.held, np.nan),
            "saving": _blank_ring(width, self.held, np.nan),
            "rows": _blank_ring(width, self.held, 0),
            "pushed": np.zeros(width, dtype=np.int64),
        }

    def note(self, memory: OwnWorkMemory, index: int, row: Floats) -> Noted:
        """Keep a row of seconds, and say whom it judges: ranks that worked, where enough of their peers did."""
        whole = whole_row(row, memory.group, self.peers, APART)
        if whole is not None:
            return self._keep_whole(memory, index, row, whole)
        row = np.where(row > 0, row, np.nan)
        peers = among_peers(row, memory.group)
        judged = np.flatnonzero((row > 0) & (memory.group != APART) & (peers.reporting >= self.peers))
        own = row[judged]
        with np.errstate(over="ignore"):  # next to no work saves nothing
            saving = np.maximum(1 - peers.rest[judged] / own, 0.0)
        place = judged, memory.pushed[judged] % self.held
        memory.seconds[place], memory.ratio[place] = own, own / peers.median[judged]
        memory.saving[place], memory.rows[place] = saving, index
        memory.pushed[judged] += 1
        return Noted(judged, -1)

    def _keep_whole(self, memory: OwnWorkMemory, index: int, row: Floats, whole: Whole) -> Noted:
        """Keep a row of all ranks; where all stand at one place in their rings, that is one column."""
        pushed, every = memory.pushed, everybody(row.size)
        column = int(pushed[0]) % self.held if is_one_number(pushed) else -1
        place: tuple[slice | Ints, int | Ints] = (slice(None), column) if column >= 0 else (every, pushed % self.held)
        memory.seconds[place] = row
        memory.ratio[place] = whole.ratio
        memory.saving[place] = 0.0
        memory.saving[whole.slowest, column if column >= 0 else pushed[whole.slowest] % self.held] = whole.saving
        memory.rows[place] = index
        pushed += 1
        return Noted(every, column)

    def in_and_out(self, memory: OwnWorkMemory, column: int, window: int) -> tuple[Floats, Floats]:
        """Give each rank's newest ratio, and the one that has just left its last `window` rows; NaN where none has.

        The ring holds more than the window, or the row that left is gone. The column is the one `note` gave.
        """
        if column >= 0:
            return memory.ratio[:, column], memory.ratio[:, (column - window) % self.held]
        newest = memory.pushed - 1
        every = everybody(newest.size)
        return memory.ratio[every, newest % self.held], memory.ratio[every, (newest - window) % self.held]

    def keep_count(
        self, memory: OwnWorkMemory, count: Ints, judged: Ints, column: int, limit: float, window: int
    ) -> None:
        """Keep count of the rows in which each rank was over a limit.

        Args:
            memory: tells the ratios.
            count: of the rank's last `window` rows, shape (ranks,); changed in place.
            judged: whom the newest row judged, and `column`: where it stands, as `note` gave them.
            limit: ratio over the peers'.
            window: rows, fewer than the ring holds.
        """
        newest, gone = self.in_and_out(memory, column, window)
        if newest[newest.argmax()] <= limit and gone[gone.argmax()] <= limit:
            return  # nobody was over it, and all have both rows: a NaN is the largest, and not less
        over, left = newest > limit, gone > limit
        now = (over.view(np.int8) - left.view(np.int8)).astype(np.int64)
        if judged.size == memory.width:
            count += now
        else:
            count[judged] += now[judged]

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
