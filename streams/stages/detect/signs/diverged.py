"""A loss that has risen by much and does not come back: the training has diverged."""

import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import change, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

USUAL = 50
"""Steps that tell what is usual, and so many have to be known."""
RISEN = 1.5
"""Times the usual loss that is much."""
STEPS = 50
"""Steps in a row over it that are no spike: those heal within some tens."""
COMING_BACK = 0.7
"""Share of the rise at its highest, under which the loss is on its way back."""
WELL = 1.1
"""Times the usual loss under which it has come back."""
NEWEST = 10


class DivergedMemory(Struct):
    """The losses of the attempt.

    Attributes:
        usual: the last ones that were not away, oldest first.
        away: those over the limit since the first of them.
        before: the usual loss at the onset.
        told: a finding is active.
    """

    attempt: int = -1
    usual: list[float] = field(default_factory=list)
    away: list[float] = field(default_factory=list)
    before: float = 0.0
    first_step: int = 0
    first_time: float = 0.0
    told: bool = False


class Diverged(Sign[DivergedMemory]):
    """Find a loss that stays at half as much again as usual, or more, for some tens of steps and does not fall back."""

    name = "diverged"
    memory = DivergedMemory

    def event(self, memory: DivergedMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """After an announced change another loss may be usual."""
        if event.event == "config.changed":
            memory.usual, memory.away = [], []
        yield from ()

    def step(self, memory: DivergedMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Judge the loss of one step."""
        loss = closed.job.get("loss")
        if loss is None or loss <= 0:
            return
        if memory.attempt != scene.run:
            memory.attempt, memory.usual, memory.away, memory.told = scene.run, [], [], False
        if not memory.away and not _is_away(memory, loss):
            memory.usual = [*memory.usual[1 - USUAL :], loss]
            return
        yield from self._away(memory, closed, loss)

    def _away(self, memory: DivergedMemory, closed: ClosedStep, loss: float) -> Iterator[Seen]:
        if not memory.away:
            memory.before = statistics.median(memory.usual)
            memory.first_step, memory.first_time = closed.step, closed.time
        memory.away = [*memory.away[1 - STEPS :], loss]
        if memory.told:
            if statistics.median(memory.away[-NEWEST:]) <= WELL * memory.before:
                yield self._seen(memory, over=True)
                memory.told, memory.away = False, []
        elif loss < RISEN * memory.before:
            memory.away = []
        elif len(memory.away) == STEPS and _stays(memory):
            memory.told = True
            yield self._seen(memory)

    def _seen(self, memory: DivergedMemory, over: bool = False) -> Seen:
        now = statistics.median(memory.away[-NEWEST:])
        return Seen(
            sign=self.name,
            again=str(memory.first_step),
            onset_time=memory.first_time,
            onset_step=memory.first_step,
            before=memory.before,
            after=now,
            text=f"the loss has stayed up since {step_words(memory.first_step)}: {change('loss', memory.before, now)}",
            over=over,
        )


def _is_away(memory: DivergedMemory, loss: float) -> bool:
    return len(memory.usual) >= USUAL and loss >= RISEN * statistics.median(memory.usual)


def _stays(memory: DivergedMemory) -> bool:
    rise = max(memory.away) - memory.before
    return statistics.median(memory.away[-NEWEST:]) - memory.before >= COMING_BACK * rise
