"""A loss that has another level since a restart with another configuration, while its shape has stayed."""

import math
import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOKED = 10
APART = math.log(1.4)
ALIKE = math.log(1.25)
"""How far apart the ratios of single steps may be for it to be one level."""
KEPT = 1000


class LevelRestartMemory(Struct):
    """Losses of the attempt before, by step, and the first of this one; `changed`: the configuration is another."""

    before: dict[int, float] = field(default_factory=dict)
    here: dict[int, float] = field(default_factory=dict)
    fingerprint: str = ""
    changed: bool = False
    judged: bool = True


class LevelRestart(Sign[LevelRestartMemory]):
    """Compare the loss of the first steps with the same steps of the attempt before, else with its last ones."""

    name = "level_restart"
    memory = LevelRestartMemory

    def event(self, memory: LevelRestartMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note a new attempt and announced changes."""
        if event.event == "attempt.started":
            memory.judged = not memory.here
            memory.changed = memory.fingerprint != scene.attempt.fingerprint
            memory.before, memory.here = memory.here or memory.before, {}
            memory.fingerprint = scene.attempt.fingerprint
        elif event.event == "config.changed":
            memory.changed = True
        yield from ()

    def step(self, memory: LevelRestartMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Compare the first steps once."""
        loss = closed.job.get("loss")
        if loss is None or loss <= 0:
            return
        memory.here[closed.step] = loss
        if len(memory.here) > KEPT:
            del memory.here[next(iter(memory.here))]
        if memory.judged or len(memory.here) < LOOKED:
            return
        memory.judged = True
        ratios = _ratios(memory)
        if not memory.changed or not ratios:
            return
        apart = statistics.median(ratios)
        if abs(apart) >= APART and max(ratios) - min(ratios) <= 2 * ALIKE:
            first = next(iter(memory.here))
            yield Seen(
                sign=self.name,
                again=str(first),
                onset_time=closed.time - max(0.0, closed.job.get("interval_seconds", 0.0)) * (LOOKED - 1),
                onset_step=first,
                before=memory.here[first] / math.exp(apart),
                after=memory.here[first],
                numbers={"ratio": math.exp(apart)},
                text=f"the loss is {math.exp(apart):.2f} × what it was, since {step_words(first)} of this attempt",
            )


def _ratios(memory: LevelRestartMemory) -> list[float]:
    """Logarithms of loss over expected loss, step by step."""
    both = [math.log(loss / memory.before[step]) for step, loss in memory.here.items() if memory.before.get(step)]
    if len(both) >= LOOKED // 2:
        return both
    last = list(memory.before.values())[-LOOKED:]
    follows = memory.before and min(memory.here) >= max(memory.before)
    return [math.log(loss / statistics.median(last)) for loss in memory.here.values()] if follows else []
