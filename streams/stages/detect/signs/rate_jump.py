"""A learning rate that is raised from one step to the next, unannounced, and after which the loss is higher."""

import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.announced import RATE
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

JUMP = 1.5
"""Times the rate before from which on it is a jump."""
SMOOTH = 1.02
"""Times, at most, by which the rate changes from step to step otherwise: warm-ups begin with more."""
KNOWN = 50
"""Steps in a row that changed it so little before."""
LOOKED = 3
"""Steps that it stays up."""
ALIKE = 1.1
"""Times by which the peaks of a schedule that restarts again and again differ at most."""
LATELY = 10
"""Steps over which the loss is looked at after the jump."""
WORSE = 1.03
"""Times the loss before the jump."""
STAYS = 400
"""Steps after which what the loss does is no longer put down to it."""


class Jump(Struct):
    """The rate was raised: at which step and when (Unix seconds), from what to what; how the loss was, and is."""

    step: int
    time: float
    before: float
    after: float
    steps: int = 0
    level: float = 0.0
    losses: list[float] = field(default_factory=list)
    told: bool = False


class RateJumpMemory(Struct):
    """The course of the rate in this attempt.

    Attributes:
        last: rate of the last step; 0 = none yet.
        smooth: steps in a row that changed it little.
        losses: the last ones.
        jump: the one that is looked at.
        peaks: rates that it has jumped to.
    """

    attempt: int = -1
    last: float = 0.0
    smooth: int = 0
    losses: list[float] = field(default_factory=list)
    jump: Jump | None = None
    peaks: list[float] = field(default_factory=list)


class RateJump(Sign[RateJumpMemory]):
    """Find the jump, and tell of it once the loss is higher: schedules that begin anew jump on purpose.

    It opens no incident by itself, but may be why there is one.
    """

    name = "rate_jump"
    memory = RateJumpMemory

    def event(self, memory: RateJumpMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """What is announced is no jump, and what the rate was before is no measure any more."""
        if event.event == "config.changed":
            yield from self._forget(memory)

    def step(self, memory: RateJumpMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Follow rate and loss."""
        rate, loss = closed.job.get(RATE), closed.job.get("loss")
        if rate is None or rate <= 0 or loss is None or scene.attempt.announced.schedule.get(RATE):
            return
        if memory.attempt != scene.run:
            yield from self._forget(memory)
            memory.attempt, memory.peaks = scene.run, []
        if memory.jump is not None:
            yield from self._follow(memory, memory.jump, rate, loss)
        else:
            _look(memory, closed, rate)
        if memory.jump is None:
            memory.losses = [*memory.losses[1 - KNOWN :], loss]

    def _forget(self, memory: RateJumpMemory) -> Iterator[Seen]:
        if memory.jump is not None and memory.jump.told:
            yield self._seen(memory.jump, over=True)
        memory.last, memory.smooth, memory.losses, memory.jump = 0.0, 0, [], None

    def _follow(self, memory: RateJumpMemory, jump: Jump, rate: float, loss: float) -> Iterator[Seen]:
        jump.steps += 1
        if rate <= JUMP * jump.before or jump.steps > STAYS:
            if jump.steps >= LOOKED:
                memory.peaks.append(jump.after)
            yield from self._forget(memory)
            return
        jump.losses = [*jump.losses[1 - LATELY :], loss]
        if not jump.told and len(jump.losses) == LATELY and statistics.median(jump.losses) >= WORSE * jump.level:
            jump.told = True
            yield self._seen(jump)

    def _seen(self, jump: Jump, over: bool = False) -> Seen:
        what = f"from {jump.before:.3g} to {jump.after:.3g} at {step_words(jump.step)}"
        return Seen(
            sign=self.name,
            again=str(jump.step),
            onset_time=jump.time,
            onset_step=jump.step,
            before=jump.before,
            after=jump.after,
            text=f"the learning rate went {what}, unannounced, and the loss has been higher since",
            over=over,
        )


def _look(memory: RateJumpMemory, closed: ClosedStep, rate: float) -> None:
    """Take the first step of a jump, or one more of a smooth course."""
    known = any(max(rate / peak, peak / rate) <= ALIKE for peak in memory.peaks)
    if memory.smooth >= KNOWN and rate >= JUMP * memory.last and memory.losses and not known:
        level = statistics.median(memory.losses)
        memory.jump = Jump(closed.step, closed.time, memory.last, rate, level=level)
        return
    changed = max(rate / memory.last, memory.last / rate) if memory.last else float("inf")
    memory.smooth, memory.last = memory.smooth + 1 if changed <= SMOOTH else 0, rate
