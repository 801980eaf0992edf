"""A loss that has gone to zero: nothing is learned from labels that are not there."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.wording import step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

VANISHED = 1e-3
"""Share of the highest loss at or below which it has vanished."""
STEPS = 3
REAL = 0.1
"""A loss that never was over this may be small by nature."""


class LossVanishedMemory(Struct):
    """The highest loss of the attempt, and since when it has been next to nothing."""

    attempt: int = -1
    highest: float = 0.0
    steps: int = 0
    first_step: int = 0
    first_time: float = 0.0
    told: bool = False


class LossVanished(Sign[LossVanishedMemory]):
    """Find a loss at a thousandth of what it was, for some steps in a row."""

    name = "loss_vanished"
    memory = LossVanishedMemory

    def step(self, memory: LossVanishedMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Judge the loss of one step."""
        loss = closed.job.get("loss")
        if loss is None:
            return
        if memory.attempt != scene.run:
            memory.attempt, memory.highest, memory.steps, memory.told = scene.run, 0.0, 0, False
        memory.highest = max(memory.highest, loss)
        if memory.highest < REAL or not 0 <= loss <= VANISHED * memory.highest:
            if memory.told:
                yield self._seen(memory, loss, over=True)
            memory.steps, memory.told = 0, False
            return
        memory.steps += 1
        if memory.steps == 1:
            memory.first_step, memory.first_time = closed.step, closed.time
        if memory.steps == STEPS:
            memory.told = True
            yield self._seen(memory, loss, over=False)

    def _seen(self, memory: LossVanishedMemory, loss: float, over: bool) -> Seen:
        return Seen(
            sign=self.name,
            onset_time=memory.first_time,
            onset_step=memory.first_step,
            before=memory.highest,
            after=loss,
            text=f"the loss is {loss:.3g} since {step_words(memory.first_step)}; it was {memory.highest:.3g}",
            over=over,
        )
