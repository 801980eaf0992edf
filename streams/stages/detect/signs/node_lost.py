"""A node of the job that was reported missing, or that its peers lost, and with which the attempt ended."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import some, step_words
from streams.stages.detect.signs.mass_missing import FEWEST
from streams.stages.detect.signs.sign import Scene, Seen, Sign

WITHIN_SECONDS = 600.0
"""So long after the report an end of the attempt is its doing."""
SILENT_SECONDS = 30.0
"""So long a node that its peers name has said nothing when the attempt ends: before, it may have had nothing to say."""
SPOKE_SECONDS = 5.0
"""A last word may be so much later than the first complaint: not all clocks are alike."""
PEERS = 2
"""Complaints of so many nodes name the one that is gone; those of one alone may tell of its own port."""
WANTED = ("finished", "stopped", "time_limit")
"""Ends that somebody wanted, or that the run came to by itself."""


class NodeLostMemory(Struct):
    """Nodes with ranks of this attempt, and what is said of them.

    Attributes:
        missing: node -> Unix seconds at which it was reported missing.
        named: node -> those whose collectives failed on it -> Unix seconds of the first such error.
    """

    attempt: int = -1
    missing: dict[str, float] = field(default_factory=dict)
    named: dict[str, dict[str, float]] = field(default_factory=dict)


class NodeLost(Sign[NodeLostMemory]):
    """Wait whether an attempt ends after one of its nodes was lost, by the scheduler or by its peers.

    Many at once are no such fault. Who is named by its peers and still speaks has only lost a connection.
    """

    name = "node_lost"
    memory = NodeLostMemory

    def event(self, memory: NodeLostMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a report, or the end."""
        if memory.attempt != scene.run:
            memory.attempt, memory.missing, memory.named = scene.run, {}, {}
        if event.event == "node.missing" and event.subject in scene.attempt.participants.nodes:
            memory.missing.setdefault(event.subject, event.time)
        elif event.event in ("node.boot", "node.joined", "node.uncordoned"):
            memory.missing.pop(event.subject or event.node, None)
        elif event.event == "nccl.error":
            _complain(memory, scene, event)
        elif event.event == "attempt.ended" and event.data.get("reason") not in WANTED:
            yield from self._ended(memory, scene, event)

    def _ended(self, memory: NodeLostMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        missing = [node for node, time in memory.missing.items() if event.time - time <= WITHIN_SECONDS]
        silent = (
            {} if missing else {node: by for node, by in memory.named.items() if _is_silent(scene, node, by, event)}
        )
        memory.missing, memory.named = {}, {}
        said = dict.fromkeys(missing, "was reported missing")
        said |= {node: f"says nothing since {some(sorted(by))} lost it as their peer" for node, by in silent.items()}
        for node, what in said.items() if len(said) < FEWEST else ():
            yield Seen(
                sign=self.name,
                subject=f"node:{node}",
                again=str(scene.run),
                onset_time=min(scene.progress, event.time),
                onset_step=scene.step,
                nodes=(node,),
                text=f"{node} {what}, and the attempt ended after {step_words(scene.step)}",
                passes=20,
            )


def _complain(memory: NodeLostMemory, scene: Scene, event: Event) -> None:
    """Note whom an error of a collective names, where both are nodes of the job."""
    peer, nodes = str(event.data.get("peer") or ""), scene.attempt.participants.nodes
    if peer in nodes and event.node in nodes and peer != event.node:
        memory.named.setdefault(peer, {}).setdefault(event.node, event.time)


def _is_silent(scene: Scene, node: str, named_by: dict[str, float], event: Event) -> bool:
    """Tell whether a node that enough peers have named has said nothing since, long enough before the end."""
    place = scene.attempt.voices.places.get(node)
    if len(named_by) < PEERS or place is None:
        return False
    last = scene.attempt.voices.latest[place]
    return last <= min(named_by.values()) + SPOKE_SECONDS and event.time - last >= SILENT_SECONDS
