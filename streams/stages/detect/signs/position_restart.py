"""A sampler that does not go on after a restart where it was: data are trained twice, or never."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from detectors.base import Alarm
from detectors.continuity import Continuity, ContinuityMemory
from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

SIGNAL = "sampler_cursor"
KEPT = 2000
"""Positions that are kept: a restart may go back so many steps."""
_CONTINUITY = Continuity()


class PositionRestartMemory(Struct):
    """Where the sampler was.

    Attributes:
        before: step -> (epoch, position), oldest first; an epoch that is not told is -1.
        cursor: what is known of the position's stride.
        resumed: another attempt in the same configuration has begun, and none of its steps was seen yet.
        doubt: what the first of them said, until the next one says that it goes on from there.
    """

    before: dict[int, tuple[float, float]] = field(default_factory=dict)
    cursor: ContinuityMemory | None = None
    fingerprint: str = ""
    world_size: int = 0
    resumed: bool = False
    doubt: Seen | None = None


class PositionRestart(Sign[PositionRestartMemory]):
    """Hold the first position after a resume against the one that the attempt before had, or would have had, there."""

    name = "position_restart"
    memory = PositionRestartMemory

    def event(self, memory: PositionRestartMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note where a new attempt goes on, and that a change was announced."""
        if event.event == "attempt.started":
            now = (scene.attempt.fingerprint, scene.attempt.world_size)
            memory.resumed = bool(memory.before) and now == (memory.fingerprint, memory.world_size)
            memory.fingerprint, memory.world_size = now
            if not memory.resumed:
                _forget(memory)
        elif event.event == "config.changed":
            _forget(memory)
        yield from ()

    def step(self, memory: PositionRestartMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Follow the position; judge the first one of a resumed attempt when the second goes on from it."""
        position = closed.job.get(SIGNAL)
        if position is None:
            return
        epoch = closed.job.get("epoch", -1.0)
        first, memory.resumed = memory.resumed, False
        comparable = _rewind(memory, closed.step, epoch) if first else True
        alarms = self._follow(memory, closed.step, position)
        jumped = next((one for one in alarms if not one.over), None)
        if memory.doubt is not None and jumped is None and any(one.over for one in alarms):
            yield memory.doubt
        memory.doubt = self._seen(jumped, closed) if first and comparable and jumped is not None else None
        _keep(memory, closed.step, (epoch, position))

    def _follow(self, memory: PositionRestartMemory, step: int, position: float) -> list[Alarm]:
        if memory.cursor is None:
            memory.cursor = _CONTINUITY.blank(1)
        return _CONTINUITY.update(memory.cursor, step, np.array([position]))

    def _seen(self, alarm: Alarm, closed: ClosedStep) -> Seen:
        steps = alarm.numbers["strides"]
        what = "trained again" if alarm.kind == "back" else "left out"
        return Seen(
            sign=self.name,
            again=str(closed.step),
            part=alarm.kind,
            onset_time=closed.time,
            onset_step=closed.step,
            before=alarm.before,
            after=alarm.after,
            numbers={"steps": steps},
            text=(
                f"the sampler went on at {alarm.after:,.0f} instead of {alarm.before:,.0f} at "
                f"{step_words(closed.step)}: the data of {steps:,.0f} steps are {what}"
            ),
        )


def _forget(memory: PositionRestartMemory) -> None:
    memory.before, memory.cursor, memory.resumed, memory.doubt = {}, None, False, None


def _keep(memory: PositionRestartMemory, step: int, where: tuple[float, float]) -> None:
    memory.before.pop(step, None)
    memory.before[step] = where
    if len(memory.before) > KEPT:
        del memory.before[next(iter(memory.before))]


def _rewind(memory: PositionRestartMemory, step: int, epoch: float) -> bool:
    """Go back to the last position before a step; False where it was in another epoch, or is not known any more."""
    earlier = [known for known in memory.before if known < step]
    memory.before = {known: memory.before[known] for known in sorted(earlier)}
    if not earlier or memory.cursor is None:
        return False
    last = max(earlier)
    was, position = memory.before[last]
    _CONTINUITY.go_on_from(memory.cursor, last, np.array([position]))
    return was == epoch
