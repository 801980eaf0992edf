"""A rank whose own work takes longer than that of its peers, and keeps doing so."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from detectors.base import Alarm, Flags, Floats, Ints, check_row, require
from detectors.evidence import unlikely
from detectors.own_work import OwnWork
from detectors.peers import among_peers
from detectors.robust import median, quantiles
from detectors.standing import StandingMemory, above_past, above_peers, blank_standing, errors, learn_standing

SUREST = 100.0
SEEN = 20
"""Rows from one long look to the next, while nobody is raised in half of the rows of one."""
SURE = 14.0
"""Least surprise at its slow rows, in natural logarithms."""
SURER = 1.2
"""A slight slowness must stand out by so much more than a plain one."""


class SlowRankMemory(StandingMemory):
    """Per rank: its last rows, where it usually stands among its peers, and the open episode.

    Attributes:
        alarmed: True while an episode is open.
        limit: ratio that was exceeded.
        onset: row the open episode is dated to.
        slow: ratio last reported.
        before: the peers' seconds, as last reported.
        after: its own seconds, likewise.
        saved: what the job would save without it, likewise.
        lasted: rows judged since the onset.
        often: rows of its last `window` that were slow.
        raised: rows of its last `steady` but one that were nearer to slightly slow than to its peers.
        typical: its median ratio over all rows held, as of the last long look.
        waited: rows since the last long look.
    """

    alarmed: Flags
    limit: Floats
    onset: Ints
    slow: Floats
    before: Floats
    after: Floats
    saved: Floats
    lasted: Ints
    often: Ints
    raised: Ints
    typical: Floats
    waited: int


class _Look(NamedTuple):
    """What one look found: the ratio exceeded, the ratios looked at, who is slow, and how far each stands out."""

    limit: float
    ratios: Floats
    slow: Flags
    z: Floats


class SlowRank:
    """Find the ranks that hold a synchronous job back: slower than their own peers, step after step.

    All ranks report the step time of the slowest, so this detector takes each rank's *own work*. A rank is slow when it
    was over its group's median by `ratio` in more than `share` of its last rows, and in clearly more of them than its
    peers usually are, and its median ratio is an outlier among theirs. A slight slowness takes a longer look, once half
    of its rows are raised: the median of `steady` rows must be an outlier among the peers or against the rank's own
    past, and be far beyond the error of such a median. Single slow steps accuse nobody: where sequences are uneven
    every rank has some. A stage that is slower as a whole has no slow rank in it.

    Args:
        ratio: own seconds over the group's median from which a row counts as slow, more than 1.
        window: rows of a rank that are looked at.
        share: of those rows, 0 to 1.
        sigmas: standard deviations among peers, robust and at least 0.6 %, that make an outlier.
        peers: members of a group that must report, the rank included, or the row judges none of them.
        calm: rows whose median must be back half-way to 1 before the episode ends.
        slight: median ratio over the peers' that is worth an alarm when it is steady, more than 1, at most `ratio`.
        steady: rows of the longer look, by which a slight episode also ends; at least `window`.

    Input: seconds of own work per rank (compute, or the step less waiting and loading); NaN, 0 and less = no reading,
        which is neither fast nor slow. Peers are set by `with_groups`; at first all are one group.
    Output: an alarm per slow rank: `before` the peers' median seconds and `after` its own, since the onset. Numbers:
        `ratio`, `z` (standard deviations from its peers or its past), `share` of slow rows in the look, `step_share`
        (of the slowest rank's time, what the job would save if this rank worked like its peers), `relative_score`
        (its peers' time over its own, 0..1, the scale of NVIDIA's Resiliency Extension). A revision when its excess has
        grown by half and is over `ratio`; one with `over` when it is like the others.
    Cost: O(ranks) per row, and O(ranks steady) every twentieth and while somebody is raised. Memory: 4 `steady` numbers
        a rank.
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
        slight: float = 1.035,
        steady: int = 40,
    ) -> None:
        require(ratio > 1, "ratio", "more than 1")
        require(window >= 4, "window", "at least 4 rows")
        require(0 < share < 1, "share", "more than 0, less than 1")
        require(sigmas > 0, "sigmas", "more than 0")
        require(peers >= 3, "peers", "at least 3")
        require(1 <= calm <= window, "calm", "1 to `window` rows")
        require(1 < slight <= ratio, "slight", "more than 1, at most `ratio`")
        require(steady >= window, "steady", "at least `window` rows")
        self.ratio, self.window, self.share = ratio, window, share
        self.sigmas, self.peers, self.calm = sigmas, peers, calm
        self.slight, self.steady = slight, steady
        self.half = (1 + slight) / 2
        self.work = OwnWork(max(steady, window + 1), peers)

    def blank(self, width: int) -> SlowRankMemory:
        """Make the memory of `width` ranks, all of one group."""
        return SlowRankMemory(
            width=width,
            **self.work.blank(width),
            **blank_standing(width),
            alarmed=np.zeros(width, dtype=np.bool_),
            limit=np.zeros(width),
            onset=np.zeros(width, dtype=np.int64),
            slow=np.zeros(width),
            before=np.zeros(width),
            after=np.zeros(width),
            saved=np.zeros(width),
            lasted=np.zeros(width, dtype=np.int64),
            often=np.zeros(width, dtype=np.int64),
            raised=np.zeros(width, dtype=np.int64),
            typical=np.full(width, np.nan),
            waited=0,
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
            if name not in ("width", "waited"):
                getattr(memory, name)[moved] = getattr(blank, name)[moved]
        memory.group[:] = group
        return memory

    def update(self, memory: SlowRankMemory, index: int, row: Floats) -> list[Alarm]:
        """Take one row, see `Detector.update`."""
        row = check_row(memory, row)
        judged, column = self.work.note(memory, index, row)
        if not judged.size:
            return []
        memory.waited += 1
        self.work.keep_count(memory, memory.often, judged, column, self.ratio, self.window)
        self.work.keep_count(memory, memory.raised, judged, column, self.half, self.steady - 1)
        followed = judged[memory.alarmed[judged]] if np.count_nonzero(memory.alarmed) else judged[:0]
        watched = judged[~memory.alarmed[judged]] if followed.size else judged
        alarms = []
        for look in self._looks(memory, watched):
            for rank in self._accused(memory, look, watched):
                self._open(memory, rank, look.limit)
                alarms.append(self._alarm(memory, index, rank, float(look.z[rank])))
        return alarms + self._follow(memory, index, followed) if followed.size else alarms

    def _looks(self, memory: SlowRankMemory, watched: Ints) -> Iterator[_Look]:
        """Look at the last rows for what is plainly slow; now and then at more of them for what is slightly slow."""
        most = self.share * self.window
        if memory.often[memory.often.argmax()] > most and (memory.often[watched] > most).any():
            often = memory.often > most
            recent = self.work.ratios(memory, self.window)
            _, z = above_peers(memory, median(recent), wider=(self.steady / self.window) ** 0.5)
            yield _Look(self.ratio, recent, often & (z >= self.sigmas), z)
        if memory.waited < SEEN and not self._is_any_raised(memory, watched):
            return
        typical = memory.typical = median(memory.ratio)
        if memory.waited >= SEEN:
            learn_standing(memory, typical, watched, memory.waited)
            memory.waited = 0
        raised = (typical > self.half) & (memory.pushed >= self.steady)
        if raised[watched].any():
            excess, z = above_peers(memory, typical)
            z = np.maximum(z, above_past(memory, typical))
            raised &= (excess >= self.slight - 1) & (z >= SURER * self.sigmas)
            if raised[watched].any():
                ratios = self.work.ratios(memory, self.steady)
                raised &= excess >= SURER * self.sigmas * errors(memory, ratios, self.window)
                yield _Look(self.slight, ratios, raised, z)

    def _is_any_raised(self, memory: SlowRankMemory, watched: Ints) -> bool:
        """Tell whether somebody may have been slightly slow in half of the rows of a long look, which is due then."""
        half = self.steady // 2
        return bool(memory.raised[memory.raised.argmax()] >= half and (memory.raised[watched] >= half).any())

    def _accused(self, memory: SlowRankMemory, look: _Look, watched: Ints) -> list[int]:
        """Keep those slow ranks that are fewer than half of their group, and slow in surprisingly many rows."""
        crowd = among_peers((look.slow | memory.alarmed).astype(np.float64), memory.group).median
        slow = watched[(look.slow & (crowd < 0.5) & ~memory.alarmed)[watched]]
        return [int(rank) for rank in slow if self._surprise(memory, look, int(rank)) >= SURE]

    def _surprise(self, memory: SlowRankMemory, look: _Look, rank: int) -> float:
        """How unlikely so many slow rows are, if they came as rarely as those of its peers do."""
        over, given = look.ratios > look.limit, ~np.isnan(look.ratios)
        others = (memory.group == memory.group[rank]) & ~memory.alarmed
        others[rank] = False
        return unlikely(
            int(over[others].sum()), int(given[others].sum()), int(over[rank].sum()), int(given[rank].sum())
        )

    def _open(self, memory: SlowRankMemory, rank: int, limit: float) -> None:
        columns = self.work.slow_since(memory, rank, limit)
        memory.alarmed[rank], memory.limit[rank] = True, limit
        memory.onset[rank], memory.lasted[rank] = memory.rows[rank, columns[0]], columns.size
        self._measure(memory, rank, columns)

    def _measure(self, memory: SlowRankMemory, rank: int, columns: Ints) -> None:
        own, ratio = memory.seconds[rank, columns], memory.ratio[rank, columns]
        memory.slow[rank] = np.median(ratio)
        memory.after[rank] = np.median(own)
        memory.before[rank] = np.median(own / ratio)
        memory.saved[rank] = np.median(memory.saving[rank, columns])

    def _follow(self, memory: SlowRankMemory, index: int, followed: Ints) -> list[Alarm]:
        """End the episodes of ranks that are like the others again, revise those that have become much slower."""
        memory.lasted[followed] += 1
        followed = followed[memory.lasted[followed] >= self.calm]
        if not followed.size:
            return []
        near, now = quantiles(self.work.ratios(memory, self.calm)[followed], (0.25, 0.5))
        typical = memory.typical
        typical[followed] = median(memory.ratio[followed])
        now = np.where(memory.limit[followed] < self.ratio, typical[followed], now)
        back = now <= (1 + memory.limit[followed]) / 2
        worse = near - 1 >= np.maximum(1.5 * (memory.slow[followed] - 1), self.ratio - 1)
        if not (back | worse).any():
            return []
        _, z = above_peers(memory, typical)
        ended = [self._end(memory, int(rank), float(z[rank])) for rank in followed[back]]
        return ended + [self._revise(memory, index, int(rank), float(z[rank])) for rank in followed[worse & ~back]]

    def _revise(self, memory: SlowRankMemory, index: int, rank: int, z: float) -> Alarm:
        self._measure(memory, rank, self.work.columns(memory, rank, self.calm))
        memory.limit[rank] = self.ratio
        return self._alarm(memory, index, rank, z)

    def _end(self, memory: SlowRankMemory, rank: int, z: float) -> Alarm:
        look = self.calm if memory.limit[rank] == self.ratio else self.steady
        last, since = self.work.slow_until(memory, rank, float(memory.limit[rank]), look)
        alarm = self._alarm(memory, max(last, int(memory.onset[rank])), rank, z, over=True)
        memory.alarmed[rank] = False
        self.work.keep(memory, rank, since)
        memory.often[rank] = int((self.work.ratios(memory, self.window)[rank] > self.ratio).sum())
        memory.raised[rank] = int((self.work.ratios(memory, self.steady - 1)[rank] > self.half).sum())
        return alarm

    def _alarm(self, memory: SlowRankMemory, index: int, rank: int, z: float, over: bool = False) -> Alarm:
        before, slow, limit = float(memory.before[rank]), float(memory.slow[rank]), float(memory.limit[rank])
        looked = self.work.columns(memory, rank, self.window if limit == self.ratio else self.steady)
        return Alarm(
            series=rank,
            index=index,
            onset=int(memory.onset[rank]),
            before=before,
            after=float(memory.after[rank]),
            limit=before * limit,
            score=min(max((slow - 1) / (limit - 1), 1.0), SUREST),
            direction=1,
            over=over,
            numbers={
                "ratio": slow,
                "z": z,
                "share": float(np.mean(memory.ratio[rank, looked] > limit)),
                "step_share": float(memory.saved[rank]),
                "relative_score": min(1.0, 1.0 / slow),
            },
        )
