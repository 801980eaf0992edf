"""A job of which the scheduler runs only a part: those that run wait for the others, and their GPUs with them."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Event, as_count
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

PLACED_SECONDS = 120.0
"""A gang that is placed together is placed within so long of its start."""


class PartialGangMemory(Struct):
    """Whether it was told of this attempt, and when that began."""

    since: float | None = None


class PartialGang(Sign[PartialGangMemory]):
    """Hold the tasks that run against the ranks that the job needs, until its first step."""

    name = "partial_gang"
    memory = PartialGangMemory

    def event(self, memory: PartialGangMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take the scheduler's word; a start begins anew."""
        if event.event == "attempt.started":
            yield from self._over(memory, scene)
        elif event.event == "scheduler.status" and memory.since is None:
            tasks = _waiting(scene, event)
            if tasks:
                memory.since = scene.attempt.started or event.time
                yield Seen(
                    sign=self.name,
                    onset_time=memory.since,
                    numbers={"tasks": float(tasks), "needed": float(scene.attempt.world_size)},
                    text=f"{tasks} of {scene.attempt.world_size} tasks run, and no step has been trained so far",
                )

    def step(self, memory: PartialGangMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """With the first step nobody waits any more."""
        yield from self._over(memory, scene)

    def _over(self, memory: PartialGangMemory, scene: Scene) -> Iterator[Seen]:
        if memory.since is not None:
            yield Seen(sign=self.name, onset_time=memory.since, onset_step=scene.step, over=True)
            memory.since = None


def _waiting(scene: Scene, event: Event) -> int:
    """Give the number of tasks where they are fewer than the job needs, and wait; 0 where they are not.

    Tasks may be counted by node: they are too few where no more ranks were placed, or where others are said to wait.
    """
    attempt, tasks = scene.attempt, as_count(event.data.get("tasks")) or 0
    if event.data.get("state") != "running" or attempt.started is None or attempt.ended is not None:
        return 0
    placed, needed = len(attempt.participants.ranks), attempt.world_size
    short = 0 < tasks < needed and (placed == tasks or "pending" in event.text.lower())
    return tasks if short and scene.step is None and event.time - attempt.started >= PLACED_SECONDS else 0
