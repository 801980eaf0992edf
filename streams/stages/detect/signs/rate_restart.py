"""A learning rate that does not go on after a restart: its scheduler began anew."""

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.announced import RATE, off_plan
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOKED = 3
"""Steps of the new attempt that are looked at."""
APART = 2.0
"""Times the expected rate, either way, that no schedule explains."""
SMOOTH, APART_SMOOTH = 0.005, 1.05
"""Where the rate changed by less a step than the first, or where the very step was trained before, this is too far."""
KEPT, KEPT_SMOOTH = 512, 50


class RateRestartMemory(Struct):
    """Rates of the attempt before, by step, and those of the first steps of this one.

    Attributes:
        before: step -> rate of the attempt before.
        here: step -> rate of this one.
        resumed: this attempt goes on where another stopped, in the same configuration.
    """

    before: dict[int, float] = field(default_factory=dict)
    here: dict[int, float] = field(default_factory=dict)
    fingerprint: str = ""
    world_size: int = 0
    resumed: bool = False


class RateRestart(Sign[RateRestartMemory]):
    """Compare the rate of the first steps after a resume with the schedule before it."""

    name = "rate_restart"
    memory = RateRestartMemory

    def event(self, memory: RateRestartMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note where a new attempt goes on, and that a change was announced."""
        if event.event == "attempt.started":
            known = memory.fingerprint == scene.attempt.fingerprint and memory.world_size == scene.attempt.world_size
            memory.resumed = bool(memory.here) and known
            memory.before, memory.here = memory.here or memory.before, {}
            memory.fingerprint, memory.world_size = scene.attempt.fingerprint, scene.attempt.world_size
        elif event.event == "config.changed":
            memory.resumed = False
        yield from ()

    def step(self, memory: RateRestartMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Compare the first steps."""
        rate = closed.job.get("learning_rate")
        if rate is None:
            return
        memory.here[closed.step] = rate
        if len(memory.here) > KEPT:
            del memory.here[next(iter(memory.here))]
        if not memory.resumed or len(memory.here) != LOOKED:
            return
        memory.resumed = False
        points = scene.attempt.announced.schedule.get(RATE)
        if points and not any(off_plan(points, step, rate, 0.0) for step, rate in memory.here.items()):
            return  # it goes on as was planned
        expected = [_expected(memory.before, step) for step in memory.here]
        too_far = _too_far(memory, rises=rate > expected[-1])
        apart = [_ratio(rate, was) for rate, was in zip(memory.here.values(), expected, strict=True)]
        if all(one is not None and one >= too_far for one in apart):
            first = next(iter(memory.here))
            was, now = expected[0], memory.here[first]
            yield Seen(
                sign=self.name,
                again=str(first),
                onset_time=closed.time - max(0.0, closed.job.get("interval_seconds", 0.0)) * (LOOKED - 1),
                onset_step=first,
                before=was,
                after=now,
                text=f"the learning rate went on with {now:.3g} instead of {was:.3g} at {step_words(first)}",
            )


def _too_far(memory: RateRestartMemory, rises: bool) -> float:
    """Say how far from the expected rate is too far; people lower it by hand, and hardly ever raise it."""
    if all(step in memory.before for step in memory.here):
        return APART_SMOOTH
    if not rises:
        return APART
    last = list(memory.before.items())[-KEPT_SMOOTH:]
    follows = bool(last) and 0 < min(memory.here) - last[-1][0] <= LOOKED
    changes = [abs(b / a - 1) / (to - at) for (at, a), (to, b) in pairwise(last) if a > 0 and to > at]
    return APART_SMOOTH if follows and len(changes) >= LOOKED and max(changes) <= SMOOTH else APART


def _expected(before: dict[int, float], step: int) -> float:
    """The rate the attempt before had at a step; past its end its last one."""
    known = before.get(step)
    return known if known is not None else before[max(before)]


def _ratio(now: float, was: float) -> float | None:
    """How far two rates are apart, at least 1; None where there was none."""
    if was <= 0:
        return None
    return float("inf") if now <= 0 else max(now / was, was / now)
