"""Many workers of one job that the scheduler took within seconds while it left the others: no queue works like that."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 4
WITHIN_SECONDS = 120.0
SETTLES_SECONDS = 10.0
"""So long after the last of them more may be taken: all of them together are a job that made room for another."""


class MassEvictionMemory(Struct):
    """The nodes whose workers were taken from the attempt, oldest first, and the step in which it began.

    Attributes:
        taken: node -> Unix seconds.
        of: nodes that the job had.
        told: these were told, or are no more to tell.
    """

    taken: dict[str, float] = field(default_factory=dict)
    of: int = 0
    step: int | None = None
    told: bool = False


class MassEviction(Sign[MassEvictionMemory]):
    """Count the workers that were taken within two minutes, and hold them against the job's nodes."""

    name = "mass_eviction"
    memory = MassEvictionMemory

    def event(self, memory: MassEvictionMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a worker's end; with the next start everything that belongs together has been told."""
        if event.event == "attempt.started":
            yield from self._tell(memory)
            memory.taken, memory.told = {}, False
        elif event.event == "worker.evicted" and event.subject:
            recent = {node: time for node, time in memory.taken.items() if event.time - time <= WITHIN_SECONDS}
            if not recent:
                memory.step, memory.told = scene.step, False
            memory.taken = {**recent, event.subject: event.time}
            memory.of = len(set(scene.attempt.participants.nodes) - {""})

    def time(self, memory: MassEvictionMemory, scene: Scene) -> Iterator[Seen]:
        """Tell of them when no more have followed."""
        if memory.taken and not memory.told and scene.clock >= max(memory.taken.values()) + SETTLES_SECONDS:
            yield from self._tell(memory)

    def _tell(self, memory: MassEvictionMemory) -> Iterator[Seen]:
        gone = len(memory.taken)
        if memory.told or not FEWEST <= gone < memory.of:
            return
        memory.told = True
        first, last = min(memory.taken.values()), max(memory.taken.values())
        yield Seen(
            sign=self.name,
            again=f"{first:.0f}",
            onset_time=first,
            onset_step=memory.step,
            numbers={"workers": float(gone)},
            text=f"the scheduler took {count(gone, 'worker')} of {memory.of} within {last - first:.0f} s",
            passes=20,
        )
