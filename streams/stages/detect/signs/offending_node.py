"""A node that is blamed again and again, whatever the job, the attempt or the rank."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 3
DAYS = 28
KEPT = 5000


class OffendingNodeMemory(Struct):
    """Node -> incident -> Unix seconds at which it began."""

    blamed: dict[str, dict[str, float]] = field(default_factory=dict)


class OffendingNode(Sign[OffendingNodeMemory]):
    """Count the incidents of four weeks that blame a node."""

    name = "offending_node"
    memory = OffendingNodeMemory

    def event(self, memory: OffendingNodeMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take the incident of a job."""
        kind, _, node = event.subject.partition(":")
        if event.event != "job.incident" or kind != "node":
            return
        recent = {
            incident: time
            for incident, time in memory.blamed.pop(node, {}).items()
            if event.time - time <= DAYS * 86400.0
        }
        recent[str(event.data.get("incident"))] = event.time
        memory.blamed[node] = recent
        while len(memory.blamed) > KEPT:
            del memory.blamed[next(iter(memory.blamed))]
        if len(recent) >= FEWEST:
            yield Seen(
                sign=self.name,
                subject=f"node:{node}",
                onset_time=max(recent.values()),
                nodes=(node,),
                numbers={"incidents": float(len(recent))},
                text=f"{node} was blamed for {len(recent)} incidents within {DAYS} days",
            )
