"""Slowness that moves: every step waits for some rank, and never for the same one for long, so none is at fault."""

import statistics
from collections import Counter
from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from detectors.peers import among_peers
from schemas.wording import step_words
from streams.stages.detect.derive import OWN_PARTS, ClosedStep
from streams.stages.detect.memory import Attempt
from streams.stages.detect.signs.sign import Scene, Seen, Sign

EVERY = 4
"""Steps from one look to the next."""
KEPT = 50
"""Looks that are judged together."""
UNEVEN, EVEN = 0.15, 0.1
"""How much longer than its peers' median the slowest rank works, from which on it is told, and until which."""
MOVES, STAYS = 0.3, 0.5
"""Share of the looks in which one rank may be the slowest, to be told, and to go on being told."""
STANDS = 0.5
"""Share of that excess that may be there in the mean of many steps as well: what stands does not move."""
FEWEST = 6
"""Peers that have to report, or somebody is the slowest too often by chance."""


class Look(Struct):
    """The slowest rank of one step against its peers.

    Attributes:
        excess: by how much.
        standing: how much the slowest rank is over its peers in the mean of the last steps.
        rank: who it was.
        part: of its work that did it.
    """

    excess: float
    standing: float
    rank: int
    part: str


class UnevenWorkMemory(Struct):
    """The last looks, oldest first; the step since which it has been told, -1 where it is not."""

    attempt: int = -1
    looks: list[Look] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    told: int = -1
    told_time: float = 0.0


class UnevenWork(Sign[UnevenWorkMemory]):
    """Look who is slowest in every fourth step: sequences, experts and collections slow down one after the other."""

    name = "uneven_work"
    memory = UnevenWorkMemory

    def step(self, memory: UnevenWorkMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Look at one step in four; steps inside a legitimate phase are left out."""
        if closed.own is None or phase or closed.step % EVERY:
            return
        if memory.attempt != scene.run:
            memory.attempt, memory.told = scene.run, -1
            memory.looks, memory.steps, memory.times = [], [], []
        look = _look(scene.attempt, closed)
        if look is None:
            return
        memory.looks = [*memory.looks[1 - KEPT :], look]
        memory.steps = [*memory.steps[1 - KEPT :], closed.step]
        memory.times = [*memory.times[1 - KEPT :], closed.time]
        if len(memory.looks) == KEPT:
            yield from self._judge(memory)

    def _judge(self, memory: UnevenWorkMemory) -> Iterator[Seen]:
        excess = statistics.median(look.excess for look in memory.looks)
        standing = statistics.median(look.standing for look in memory.looks)
        most = Counter(look.rank for look in memory.looks).most_common(1)[0][1] / KEPT
        if memory.told < 0 and excess >= UNEVEN and most <= MOVES and standing <= STANDS * excess:
            begun = _begun([look.excess for look in memory.looks])
            memory.told, memory.told_time = memory.steps[begun], memory.times[begun]
            yield self._seen(memory, excess, over=False)
        elif memory.told >= 0 and (excess < EVEN or most > STAYS):
            yield self._seen(memory, excess, over=True)
            memory.told = -1

    def _seen(self, memory: UnevenWorkMemory, excess: float, over: bool) -> Seen:
        part, times = Counter(look.part for look in memory.looks).most_common(1)[0]
        part = part if times > KEPT / 2 else ""
        ranks = len({look.rank for look in memory.looks})
        return Seen(
            sign=self.name,
            again=str(memory.told),
            part=part,
            onset_time=memory.told_time,
            onset_step=memory.told,
            before=1.0,
            after=1.0 + excess,
            numbers={"excess": excess, "ranks": float(ranks), "looks": float(KEPT)},
            text=(
                f"the slowest rank works {1 + excess:.2f} × as long as its peers since {step_words(memory.told)}, "
                f"and it was {ranks} different ones in {KEPT} steps" + (f"; {part} explains it" if part else "")
            ),
            over=over,
        )


def _begun(excesses: list[float]) -> int:
    """Give the place from which on the work was uneven: the rows before are nearer to even than to what it came to."""
    level = statistics.median(sorted(excesses)[len(excesses) // 2 :])
    gain = np.cumsum((np.minimum(excesses, level) - level / 2)[::-1])[::-1]
    return int(np.argmax(gain))


def _look(attempt: Attempt, closed: ClosedStep) -> Look | None:
    """Find the slowest rank against its peers; None where too few of them report."""
    people, own = attempt.participants, closed.own
    if own is None or len(own) < FEWEST:
        return None
    peers = among_peers(own, np.array(people.groups[: len(own)], dtype=np.int64))
    with np.errstate(all="ignore"):
        ratio = np.where((peers.reporting >= FEWEST) & (peers.median > 0), own / peers.median, np.nan)
    if not np.isfinite(ratio).any():
        return None
    place = int(np.nanargmax(ratio))
    part = _part(attempt, closed, place, float(own[place] - peers.median[place]))
    return Look(float(ratio[place]) - 1.0, _standing(attempt, people.groups), people.ranks[place], part)


def _standing(attempt: Attempt, groups: list[int]) -> float:
    """How much the slowest rank is over its peers in the mean of the last steps."""
    mean = attempt.peers.parts.get("own_seconds")
    if mean is None:
        return 0.0
    peers = among_peers(mean, np.array(groups[: len(mean)], dtype=np.int64))
    with np.errstate(all="ignore"):
        over = mean / peers.median
    return float(np.nanmax(over)) - 1.0 if np.isfinite(over).any() else 0.0


def _part(attempt: Attempt, closed: ClosedStep, place: int, excess: float) -> str:
    """Name the part of the work that holds at least half of what a rank takes longer than its peers."""
    groups = np.array(attempt.participants.groups)
    best, held = "", 0.5 * excess
    for name in OWN_PARTS:
        row = closed.ranks.get(name)
        if row is None or len(row) <= place or not np.isfinite(row[place]):
            continue
        more = float(row[place] - np.nanmedian(row[groups[: len(row)] == groups[place]]))
        if more >= held:
            best, held = name.removesuffix("_seconds"), more
    return best
