"""A job that ended as planned and that nothing follows: training stands still without a fault."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Event
from streams.stages.detect.signs.sign import Scene, Seen, Sign

UNFINISHED = ("time_limit", "requeued", "evicted", "stopped")
"""Ends after which the job is expected to go on."""
ABSENT = ("none", "unknown", "absent", "missing")


class NoSuccessorMemory(Struct):
    """How the last attempt ended, if it ended unfinished; and that it is told."""

    ended: str = ""
    time: float = 0.0
    told: bool = False


class NoSuccessor(Sign[NoSuccessorMemory]):
    """Notice a scheduler that knows of no running or queued job after an unfinished end; tell it once."""

    name = "no_successor"
    memory = NoSuccessorMemory

    def event(self, memory: NoSuccessorMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Follow the attempts and what the scheduler says."""
        if event.event == "attempt.ended":
            reason = str(event.data.get("reason") or "")
            memory.ended, memory.time = (reason, event.time) if reason in UNFINISHED else ("", 0.0)
        absent = event.event == "scheduler.status" and str(event.data.get("state")) in ABSENT
        if absent and memory.ended and not memory.told:
            memory.told = True
            yield self._seen(memory, scene, event)
        elif memory.told and (event.event == "attempt.started" or (event.event == "scheduler.status" and not absent)):
            memory.told = False
            yield self._seen(memory, scene, event, over=True)
        if event.event == "attempt.started":
            memory.ended = ""

    def _seen(self, memory: NoSuccessorMemory, scene: Scene, event: Event, over: bool = False) -> Seen:
        return Seen(
            sign=self.name,
            again=f"{memory.time:.0f}",
            onset_time=event.time if over else memory.time,
            onset_step=scene.step,
            text=f"the attempt ended ({memory.ended}) and the scheduler knows of nothing that follows it",
            over=over,
        )
