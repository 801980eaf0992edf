"""A learning rate that has come down to zero long before the run is through: what follows trains nothing."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.announced import RATE
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

STEPS = 30
"""Steps in a row without a rate."""
THROUGH = 0.9
"""Share of the planned steps from which a rate of zero is the end of its schedule."""
SMOOTH, JUMP = 0.02, 0.5
"""Share of the highest rate that the last one had at most, or at least: a log with few digits shows neither."""


class RateGoneMemory(Struct):
    """The highest rate and the last one that was not zero, and for how many steps it has been zero since.

    Attributes:
        step: the first of these steps; `time`, its end in Unix seconds.
        told: a finding is active.
    """

    attempt: int = -1
    highest: float = 0.0
    last: float = 0.0
    steps: int = 0
    step: int = 0
    time: float = 0.0
    told: bool = False


class RateGone(Sign[RateGoneMemory]):
    """Find a rate of zero where the number of planned steps is known, and no schedule was announced."""

    name = "rate_gone"
    memory = RateGoneMemory

    def event(self, memory: RateGoneMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """An announced change may stop the training of a part on purpose."""
        if event.event == "config.changed":
            memory.highest = memory.last = 0.0
        yield from ()

    def step(self, memory: RateGoneMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Count the steps without a rate."""
        rate, planned = closed.job.get("learning_rate"), scene.attempt.total_steps
        if rate is None or phase or not planned or scene.attempt.announced.schedule.get(RATE):
            return
        if memory.attempt != scene.run:
            memory.attempt, memory.highest, memory.last = scene.run, 0.0, 0.0
            memory.steps, memory.told = 0, False
        if rate != 0.0:
            if memory.told:
                yield self._seen(memory, over=True)
            memory.highest, memory.last, memory.steps, memory.told = max(memory.highest, rate), rate, 0, False
            return
        if not memory.steps:
            memory.step, memory.time = closed.step, closed.time
        memory.steps += 1
        if memory.steps == STEPS and memory.step < THROUGH * planned and _was_a_rate(memory):
            memory.told = True
            yield self._seen(memory)

    def _seen(self, memory: RateGoneMemory, over: bool = False) -> Seen:
        return Seen(
            sign=self.name,
            again=str(memory.step),
            onset_time=memory.time,
            onset_step=memory.step,
            before=memory.highest,
            after=0.0,
            text=f"the learning rate is zero since {step_words(memory.step)}, after {memory.highest:.3g} at most",
            over=over,
        )


def _was_a_rate(memory: RateGoneMemory) -> bool:
    if memory.highest <= 0.0:
        return False
    share = memory.last / memory.highest
    return share <= SMOOTH or share >= JUMP
