"""A node of the job that was reported missing, and with which the attempt ended."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import step_words
from streams.stages.detect.signs.mass_missing import FEWEST
from streams.stages.detect.signs.sign import Scene, Seen, Sign

WITHIN_SECONDS = 600.0
"""So long after the report an end of the attempt is its doing."""
WANTED = ("finished", "stopped", "time_limit")
"""Ends that somebody wanted, or that the run came to by itself."""


class NodeLostMemory(Struct):
    """Nodes with ranks of this attempt that were reported missing: node -> Unix seconds."""

    attempt: int = -1
    missing: dict[str, float] = field(default_factory=dict)


class NodeLost(Sign[NodeLostMemory]):
    """Wait whether an attempt ends after the scheduler has lost one of its nodes; many at once are no such fault."""

    name = "node_lost"
    memory = NodeLostMemory

    def event(self, memory: NodeLostMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a report, or the end."""
        if memory.attempt != scene.run:
            memory.attempt, memory.missing = scene.run, {}
        if event.event == "node.missing" and event.subject in scene.attempt.participants.nodes:
            memory.missing.setdefault(event.subject, event.time)
        elif event.event in ("node.boot", "node.joined", "node.uncordoned"):
            memory.missing.pop(event.subject or event.node, None)
        elif event.event == "attempt.ended" and event.data.get("reason") not in WANTED:
            yield from self._ended(memory, scene, event)

    def _ended(self, memory: NodeLostMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        lost = [node for node, time in memory.missing.items() if event.time - time <= WITHIN_SECONDS]
        memory.missing = {}
        for node in lost if len(lost) < FEWEST else ():
            yield Seen(
                sign=self.name,
                subject=f"node:{node}",
                again=str(scene.run),
                onset_time=min(scene.progress, event.time),
                onset_step=scene.step,
                nodes=(node,),
                text=f"{node} was reported missing, and the attempt ended after {step_words(scene.step)}",
                passes=20,
            )
