"""A learning rate that leaves the schedule which the launcher announced, and that it had kept to."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.announced import RATE, off_plan, planned_rate
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.memory import Points
from streams.stages.detect.signs.sign import Scene, Seen, Sign

KEPT_TO = 20
"""Readings by the schedule before one that is not says anything: it may be in other units, or that of another job."""
LOOKED = 3
"""Readings in a row that are off the schedule, or back on it."""


class OffScheduleMemory(Struct):
    """How well the schedule was kept to.

    Attributes:
        points: the schedule all this is about.
        kept_to: readings that were by it.
        finest: the least of them that was not 0.
        first: step and time of the first of the last readings that all went the other way: off it, or back on it.
        other: how many of those there are.
        told: first step of the open finding, None where none is open.
        last: the last step that was off.
    """

    points: Points = field(default_factory=list)
    kept_to: int = 0
    finest: float = 0.0
    first: tuple[int, float] = (0, 0.0)
    other: int = 0
    told: int | None = None
    last: int = 0


class OffSchedule(Sign[OffScheduleMemory]):
    """Hold the learning rate against its schedule; what is planned, warm-up and restarts included, says nothing."""

    name = "off_schedule"
    memory = OffScheduleMemory

    def event(self, memory: OffScheduleMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Begin anew where another schedule is announced, or none any more."""
        points = scene.attempt.announced.schedule.get(RATE, [])
        if event.event in ("attempt.started", "config.changed", "incident.closed") and points != memory.points:
            if memory.told is not None:
                yield self._over(memory)
            fresh = OffScheduleMemory(points=points)
            for name in fresh.__struct_fields__:
                setattr(memory, name, getattr(fresh, name))

    def step(self, memory: OffScheduleMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Judge one reading."""
        rate = closed.job.get(RATE)
        if rate is None or not memory.points:
            return
        off = off_plan(memory.points, closed.step, rate, memory.finest)
        if not off:
            memory.kept_to += 1
            memory.finest = min(memory.finest or rate, rate or memory.finest)
        else:
            memory.last = closed.step
        if off == (memory.told is not None):
            memory.other = 0
            return
        if memory.other == 0:
            memory.first = (closed.step, closed.time)
        memory.other += 1
        if memory.other < LOOKED or (off and memory.kept_to < KEPT_TO):
            return
        memory.other = 0
        yield self._seen(memory, rate) if off else self._over(memory)

    def _seen(self, memory: OffScheduleMemory, rate: float) -> Seen:
        memory.told, since = memory.first
        low, high = planned_rate(memory.points, memory.told)
        planned = high if rate > high else low
        return Seen(
            sign=self.name,
            again=str(memory.told),
            onset_time=since,
            onset_step=memory.told,
            before=planned,
            after=rate,
            text=f"the learning rate is {rate:.3g} since {step_words(memory.told)}, where {planned:.3g} was planned",
        )

    def _over(self, memory: OffScheduleMemory) -> Seen:
        told, memory.told = memory.told, None
        return Seen(sign=self.name, again=str(told), onset_time=0.0, over=True, end_step=memory.last)
