"""A loss that goes up a little with every step: no step stands out, and what is usual follows it."""

import itertools
import statistics
from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import change, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

BLOCK = 20
"""Steps of which a median is taken."""
KEPT = 200
"""Blocks that are remembered: so slow a climb may be."""
NEWEST = 3
CLIMB = 8
"""Blocks that it has to have gone on for."""
BEFORE = 10
"""Blocks before the climb, which show how the loss swings."""
RISEN = 0.15
"""Rise over the lowest level that is told; 51 healthy runs of a language model never rose by more than 0.014."""
WARMING = 2.0
"""Times that, where the learning rate has been raised since."""
RAISED = 1.05
AGREED = 0.85
"""Share of all pairs of blocks in which the later one is higher."""
LEAP = 0.5
"""Share of the rise that may lie between two blocks in a row: a level that was jumped to does not climb."""
UNUSUAL = 3.0
"""Times the largest rise before, which was none: losses that go with the data swing."""
FARTHER, BACK = 1.5, 0.5
"""Share of the rise from which on it is told again, and at which it is over."""


class Block(Struct, frozen=True):
    """A few steps in a row: the first of them, the median loss and the last learning rate (0 = unknown)."""

    step: int
    time: float
    loss: float
    rate: float


class ClimbingLossMemory(Struct):
    """The blocks of the attempt.

    Attributes:
        losses: of the block that is being filled.
        first: step and time of its first.
        told: rise that was told last; 0 where none is.
        low: the block of the lowest level, once told.
        bend: the block from which on it climbs, likewise.
    """

    attempt: int = -1
    losses: list[float] = field(default_factory=list)
    first: tuple[int, float] = (0, 0.0)
    blocks: list[Block] = field(default_factory=list)
    told: float = 0.0
    low: Block | None = None
    bend: Block | None = None


class ClimbingLoss(Sign[ClimbingLossMemory]):
    """Find a loss that has climbed for a hundred steps and more, block by block, far from its lowest level."""

    name = "climbing_loss"
    memory = ClimbingLossMemory

    def event(self, memory: ClimbingLossMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """After an announced change another loss may be usual."""
        if event.event == "config.changed":
            yield from self._anew(memory)

    def step(self, memory: ClimbingLossMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Keep the loss of one step, and look at the blocks when one is full."""
        loss = closed.job.get("loss")
        if loss is None or loss <= 0:
            return
        if memory.attempt != scene.run:
            yield from self._anew(memory)
            memory.attempt = scene.run
        if not memory.losses:
            memory.first = (closed.step, closed.time)
        memory.losses = [*memory.losses, loss]
        if len(memory.losses) == BLOCK:
            block = Block(*memory.first, statistics.median(memory.losses), closed.job.get("learning_rate", 0.0))
            memory.blocks, memory.losses = [*memory.blocks[1 - KEPT :], block], []
            yield from self._told(memory) if memory.low is not None else self._judge(memory)

    def _anew(self, memory: ClimbingLossMemory) -> Iterator[Seen]:
        if memory.low is not None:
            yield self._seen(memory, memory.low, over=True)
        memory.blocks, memory.losses, memory.low, memory.bend, memory.told = [], [], None, None, 0.0

    def _judge(self, memory: ClimbingLossMemory) -> Iterator[Seen]:
        if len(memory.blocks) < NEWEST + CLIMB:
            return
        place = _lowest(memory.blocks)
        low, rate = memory.blocks[place], memory.blocks[-1].rate
        rise, raised = _rise(memory, low), 0 < RAISED * low.rate < rate
        if len(memory.blocks) - place <= CLIMB or rise < (WARMING if raised else 1.0) * RISEN:
            return
        bend = _bend([one.loss for one in memory.blocks], place)
        before, after = memory.blocks[:bend], memory.blocks[bend + 1 :]
        if len(before) < BEFORE or len(after) < CLIMB or not _climbs(after):
            return
        if rise >= UNUSUAL * _swing(before):
            memory.low, memory.bend, memory.told = low, memory.blocks[bend], rise
            yield self._seen(memory, low)

    def _told(self, memory: ClimbingLossMemory) -> Iterator[Seen]:
        """Tell again where it has come much farther, and say when it is back half-way."""
        if memory.low is None:
            return
        rise = _rise(memory, memory.low)
        if rise <= BACK * memory.told:
            yield from self._anew(memory)
        elif rise >= FARTHER * memory.told:
            memory.told = rise
            yield self._seen(memory, memory.low)

    def _seen(self, memory: ClimbingLossMemory, low: Block, over: bool = False) -> Seen:
        now = (1 + _rise(memory, low)) * low.loss
        words, since = f"{change('loss', low.loss, now)}, a little with every step", memory.bend or low
        return Seen(
            sign=self.name,
            again=str(low.step),
            onset_time=since.time,
            onset_step=since.step,
            before=low.loss,
            after=now,
            text=f"the loss has been climbing since {step_words(since.step)}: {words}",
            over=over,
        )


def _lowest(blocks: list[Block]) -> int:
    """Give the place of the lowest level: that of three blocks in a row, since a single one may be an easy batch."""
    levels = _levels(blocks)
    return levels.index(min(levels)) + NEWEST // 2


def _bend(losses: list[float], lowest: int) -> int:
    """Give the place from which on they climb: of two lines that meet there, those that fit best.

    The lowest level may lie well before it, as a loss that has settled hardly falls any more. Only the way up to half
    of the rise is looked at: a climb that slows down is no line.

    >>> _bend([2.0, 1.99, 2.0, 2.01, 1.99, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5], 1)
    5
    """

    def misfit(at: int) -> float:
        lines = np.stack([np.ones_like(places), np.minimum(places - at, 0), np.maximum(places - at, 0)], axis=1)
        return float(np.sum((lines @ np.linalg.lstsq(lines, values, rcond=None)[0] - values) ** 2))

    half = (min(losses[lowest:]) + max(losses[lowest:])) / 2
    end = max(lowest + CLIMB, next(i for i, loss in enumerate(losses) if i > lowest and loss >= half) + 1)
    start = max(0, lowest - BEFORE)
    places, values = np.arange(start, end, dtype=np.float64), np.asarray(losses[start:end])
    return min(range(lowest, end - CLIMB // 4), key=misfit)


def _rise(memory: ClimbingLossMemory, low: Block) -> float:
    return statistics.median(one.loss for one in memory.blocks[-NEWEST:]) / low.loss - 1


def _swing(blocks: list[Block]) -> float:
    """Give the most by which a level rose over an earlier one, or stood out from the course before and after it.

    A loss that falls hides how it swings from the first; one that only falls, ever more slowly, never does the second.
    """
    levels = _levels(blocks)
    lowest = itertools.accumulate(levels, min)
    rises = [level / low - 1 for level, low in zip(levels, lowest, strict=True)]
    about = zip(levels, levels[CLIMB:], levels[2 * CLIMB :], strict=False)
    return max(0.0, *rises, *(2 * level / (before + after) - 1 for before, level, after in about))


def _levels(blocks: list[Block]) -> list[float]:
    return [statistics.median(one.loss for one in blocks[i : i + NEWEST]) for i in range(len(blocks) - NEWEST + 1)]


def _climbs(blocks: list[Block]) -> bool:
    pairs = [later.loss > earlier.loss for earlier, later in itertools.combinations(blocks, 2)]
    leaps = [later.loss - earlier.loss for earlier, later in itertools.pairwise(blocks)]
    return sum(pairs) >= AGREED * len(pairs) and max(leaps) <= LEAP * (blocks[-1].loss - blocks[0].loss)
