"""A rank whose own work takes longer than that of its peers, and keeps doing so."""

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, Memory, check_row, require
from detectors.evidence import unlikely
from detectors.peers import among_peers
from detectors.robust import NORMAL_MAD, latest_columns, median, push, quantiles

APART = -1
"""Group of a rank that is not compared."""
LEAST_SPREAD = 0.01
"""Peers are never believed to be more alike than this share."""
SUREST = 100.0
SURE = 14.0
"""Least surprise at its slow rows, in natural logarithms."""
MEANT = 200
"""Rows over which the usual wandering is a mean."""
NORMAL_MEAN = 1.2533
"""Mean absolute deviation times this is the standard deviation of a normal distribution."""


class SlowRankMemory(Memory):
    """Per rank: whom it is compared with, its last rows, and the open episode.

    Attributes:
        group: peers have the same number; -1 = not compared.
        seconds: own work in the last rows in which the rank was judged, a ring, shape (ranks, window).
        ratio: the same over the median of its group.
        saving: share of the slowest rank's time that the job would have saved without this rank.
        rows: their row numbers.
        pushed: rows ever judged, since the last episode.
        wander: how far its median ratio usually is from 1, a fading mean.
        meant: rows in that mean.
        alarmed: True while an episode is open.
        onset: row the open episode is dated to.
        slow: ratio last reported.
        before: the peers' seconds, as last reported.
        after: its own seconds, likewise.
        saved: what the job would save without it, likewise.
        lasted: rows judged since the onset.
    """

    group: Ints
    seconds: Floats
    ratio: Floats
    saving: Floats
    rows: Ints
    pushed: Ints
    wander: Floats
    meant: Ints
    alarmed: Flags
    onset: Ints
    slow: Floats
    before: Floats
    after: Floats
    saved: Floats
    lasted: Ints


class SlowRank:
    """Find the ranks that hold a synchronous job back: slower than their own peers, step after step.

    All ranks report the step time of the slowest, so this detector takes each rank's *own work*. A rank is slow when it
    was over its group's median by `ratio` in more than `share` of its last rows, and in clearly more of them than its
    peers usually are, and its median ratio is an outlier among theirs. Single slow steps accuse nobody: where sequences
    are uneven every rank has some. A stage that is slower as a whole has no slow rank in it.

    Args:
        ratio: own seconds over the group's median from which a row counts as slow, more than 1.
        window: rows of a rank that are looked at.
        share: of those rows, 0 to 1.
        sigmas: standard deviations among peers, robust and at least 1 %, that make an outlier.
        peers: members of a group that must report, the rank included, or the row judges none of them.
        calm: rows whose median must be back half-way to 1 before the episode ends.

    Input: seconds of own work per rank (compute, or the step less waiting and loading); NaN, 0 and less = no reading,
        which is neither fast nor slow. Peers are set by `with_groups`, say by pipeline stage; at first all are one
        group.
    Output: an alarm per slow rank: `before` the peers' median seconds and `after` its own, since the onset. Numbers:
        `ratio`, `z` (standard deviations from its peers), `share` of slow rows in the window, `step_share` (of the
        slowest rank's time, what the job would save if this rank worked like its peers). A revision when its excess has
        grown by half; one with `over` when it is like the others again.
    Cost: O(ranks (log ranks + window)) per row, 0.1 ms for 64 ranks, 0.4 ms for 1,024. Memory: 4 `window` numbers each.
    Raises: ValueError for a parameter out of range (when built), or a row that is infinite or of another width.
    Source: the rule "over peers of the same stage in more than half of the steps" was right on three traces of real
        jobs where any rule on single steps accused 63 innocents of 64.

    >>> slow_rank = SlowRank()
    >>> memory = slow_rank.blank(4)
    >>> rows = [[1.0, 1.01, 1.0, 0.99]] * 30 + [[1.0, 1.01, 1.25, 0.99]] * 12
    >>> found = [a for i, row in enumerate(rows) for a in slow_rank.update(memory, i, np.array(row))]
    >>> [(a.series, a.index, a.onset, a.before, a.after, round(a.numbers["step_share"], 3)) for a in found]
    [(2, 40, 30, 1.005, 1.25, 0.192)]
    """

    name = "slow_rank"

    def __init__(
        self,
        ratio: float = 1.10,
        window: int = 20,
        share: float = 0.5,
        sigmas: float = 5.0,
        peers: int = 3,
        calm: int = 10,
    ) -> None:
        require(ratio > 1, "ratio", "more than 1")
        require(window >= 4, "window", "at least 4 rows")
        require(0 < share < 1, "share", "more than 0, less than 1")
        require(sigmas > 0, "sigmas", "more than 0")
        require(peers >= 3, "peers", "at least 3")
        require(1 <= calm <= window, "calm", "1 to `window` rows")
        self.ratio, self.window, self.share = ratio, window, share
        self.sigmas, self.peers, self.calm = sigmas, peers, calm

    def blank(self, width: int) -> SlowRankMemory:
        """Make the memory of `width` ranks, all of one group."""
        return SlowRankMemory(
            width=width,
            group=np.zeros(width, dtype=np.int64),
            seconds=np.full((width, self.window), np.nan),
            ratio=np.full((width, self.window), np.nan),
            saving=np.full((width, self.window), np.nan),
            rows=np.zeros((width, self.window), dtype=np.int64),
            pushed=np.zeros(width, dtype=np.int64),
            wander=np.zeros(width),
            meant=np.zeros(width, dtype=np.int64),
            alarmed=np.zeros(width, dtype=np.bool_),
            onset=np.zeros(width, dtype=np.int64),
            slow=np.zeros(width),
            before=np.zeros(width),
            after=np.zeros(width),
            saved=np.zeros(width),
            lasted=np.zeros(width, dtype=np.int64),
        )

    def with_groups(self, memory: SlowRankMemory, group: Ints) -> SlowRankMemory:
        """Say who is compared with whom; a rank whose group changes begins anew, and an open episode of it is dropped.

        Args:
            memory: changed in place, and returned.
            group: shape (ranks,); -1 = not compared.

        Raises:
            ValueError: another number of ranks than the memory's.
        """
        require(group.shape == (memory.width,), "group", f"shape ({memory.width},)")
        moved = memory.group != group
        blank = self.blank(memory.width)
        for name in memory.__struct_fields__:
            if name != "width":
                getattr(memory, name)[moved] = getattr(blank, name)[moved]
        memory.group[:] = group
        return memory

    def update(self, memory: SlowRankMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        row = np.where(row > 0, row, np.nan)
        peers = among_peers(row, memory.group)
        judged = np.flatnonzero((row > 0) & (memory.group != APART) & (peers.reporting >= self.peers))
        own = row[judged]
        push(memory.seconds, memory.pushed, judged, own)
        push(memory.ratio, memory.pushed, judged, own / peers.median[judged])
        push(memory.saving, memory.pushed, judged, np.maximum(1 - peers.rest[judged] / own, 0.0))
        push(memory.rows, memory.pushed, judged, index)
        memory.pushed[judged] += 1
        counts = (memory.ratio > self.ratio).sum(axis=1)
        typical = median(memory.ratio)
        self._learn(memory, typical, judged[~memory.alarmed[judged]])
        followed = judged[memory.alarmed[judged]]
        alarms = self._raise(memory, index, counts, typical, judged)
        return alarms + self._follow(memory, index, counts, typical, followed)

    def _learn(self, memory: SlowRankMemory, typical: Floats, healthy: Ints) -> None:
        """Note how far the ranks usually wander."""
        healthy = healthy[memory.pushed[healthy] >= self.window]
        memory.meant[healthy] = np.minimum(memory.meant[healthy] + 1, MEANT)
        memory.wander[healthy] += (np.abs(typical[healthy] - 1) - memory.wander[healthy]) / memory.meant[healthy]

    def _raise(self, memory: SlowRankMemory, index: int, counts: Ints, typical: Floats, judged: Ints) -> list[Alarm]:
        often = counts > self.share * self.window
        if not (often[judged] & ~memory.alarmed[judged]).any():
            return []
        z = self._outlying(memory, typical)
        slow = often & (z >= self.sigmas)
        crowd = among_peers((slow | memory.alarmed).astype(np.float64), memory.group).median
        slow &= crowd < 0.5  # where half of a group is slow, nobody is
        alarms = []
        for rank in judged[slow[judged] & ~memory.alarmed[judged]]:
            if self._surprise(memory, counts, int(rank)) >= SURE:
                self._open(memory, int(rank))
                alarms.append(self._alarm(memory, index, int(rank), counts, z))
        return alarms

    def _outlying(self, memory: SlowRankMemory, typical: Floats) -> Floats:
        """Standard deviations by which each rank's median ratio stands above those of its peers."""
        excess = typical - among_peers(typical, memory.group).median
        now = NORMAL_MAD * among_peers(np.abs(excess), memory.group).median
        usual = NORMAL_MEAN * among_peers(memory.wander, memory.group).median
        return excess / np.maximum(np.maximum(now, usual), LEAST_SPREAD)

    def _surprise(self, memory: SlowRankMemory, counts: Ints, rank: int) -> float:
        """How unlikely so many slow rows are, if they came as rarely as those of its peers do."""
        others = (memory.group == memory.group[rank]) & ~memory.alarmed
        others[rank] = False
        rows = np.minimum(memory.pushed, self.window)
        return unlikely(int(counts[others].sum()), int(rows[others].sum()), int(counts[rank]), int(rows[rank]))

    def _open(self, memory: SlowRankMemory, rank: int) -> None:
        """Date the episode: the rows from there on are nearer to the slow level than to the peers'."""
        held = min(int(memory.pushed[rank]), self.window)
        columns = latest_columns(self.window, memory.pushed[rank, None], held)[0]
        ratio = memory.ratio[rank, columns]
        level = float(np.median(ratio[ratio > self.ratio]))
        gain = np.cumsum((np.clip(ratio, 1.0, level) - (1 + level) / 2)[::-1])[::-1]
        since = int(np.argmax(gain))
        memory.alarmed[rank] = True
        memory.onset[rank] = memory.rows[rank, columns[since]]
        memory.lasted[rank] = held - since
        self._measure(memory, rank, columns[since:])

    def _measure(self, memory: SlowRankMemory, rank: int, columns: Ints) -> None:
        own, ratio = memory.seconds[rank, columns], memory.ratio[rank, columns]
        memory.slow[rank] = np.median(ratio)
        memory.after[rank] = np.median(own)
        memory.before[rank] = np.median(own / ratio)
        memory.saved[rank] = np.median(memory.saving[rank, columns])

    def _follow(self, memory: SlowRankMemory, index: int, counts: Ints, typical: Floats, followed: Ints) -> list[Alarm]:
        """End the episodes of ranks that are like the others again, revise those that have become much slower."""
        memory.lasted[followed] += 1
        followed = followed[memory.lasted[followed] >= self.calm]
        if not followed.size:
            return []
        columns = latest_columns(self.window, memory.pushed[followed], self.calm)
        near, now = quantiles(memory.ratio[followed[:, None], columns], (0.25, 0.5))
        back = now <= (1 + self.ratio) / 2
        z = self._outlying(memory, typical)
        alarms = []
        for place in np.flatnonzero(back | (near - 1 >= 1.5 * (memory.slow[followed] - 1))):
            rank = int(followed[place])
            if back[place]:
                alarms.append(self._end(memory, rank, columns[place], counts, z))
            else:
                self._measure(memory, rank, columns[place])
                alarms.append(self._alarm(memory, index, rank, counts, z))
        return alarms

    def _end(self, memory: SlowRankMemory, rank: int, columns: Ints, counts: Ints, z: Floats) -> Alarm:
        away = np.where(memory.ratio[rank, columns] > (1 + self.ratio) / 2, 1, -1)
        last = int(np.argmax(np.cumsum(away)))
        end = max(int(memory.rows[rank, columns[last]]), int(memory.onset[rank]))
        memory.alarmed[rank] = False
        alarm = self._alarm(memory, end, rank, counts, z, over=True)
        self._keep(memory, rank, columns[last + 1 :])
        return alarm

    def _keep(self, memory: SlowRankMemory, rank: int, columns: Ints) -> None:
        """Forget a rank's rows but these: the slow ones of an episode that is over must not raise it again."""
        for ring in (memory.seconds, memory.ratio, memory.saving):
            kept = ring[rank, columns]
            ring[rank] = np.nan
            ring[rank, : kept.size] = kept
        memory.rows[rank, : columns.size] = memory.rows[rank, columns]
        memory.pushed[rank] = columns.size

    def _alarm(
        self, memory: SlowRankMemory, index: int, rank: int, counts: Ints, z: Floats, over: bool = False
    ) -> Alarm:
        before, slow = float(memory.before[rank]), float(memory.slow[rank])
        return Alarm(
            series=rank,
            index=index,
            onset=int(memory.onset[rank]),
            before=before,
            after=float(memory.after[rank]),
            limit=before * self.ratio,
            score=min(max((slow - 1) / (self.ratio - 1), 1.0), SUREST),
            direction=1,
            over=over,
            numbers={
                "ratio": slow,
                "z": float(z[rank]),
                "share": float(counts[rank] / self.window),
                "step_share": float(memory.saved[rank]),
            },
        )
