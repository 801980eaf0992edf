"""Ranks that fail because the storage failed them: what they complain of is only what came of it."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import count
from streams.stages.detect.signs.error_kind import error_kind
from streams.stages.detect.signs.sign import Scene, Seen, Sign
from streams.stages.detect.signs.storage_kind import is_worth_retrying, storage_kind

FOLLOWS_SECONDS = 60.0
"""A process that ends so soon after its last failed request, or so soon after one of its node, ended because of it."""
FEWEST_RANKS = 2
"""So many ranks of one node have to be refused before it is the node's matter: a lone one may have met a bad file."""
FEWEST_NODES = 3
"""Of fewer nodes no majority says that the storage itself is well."""
KEPT = 256


class Failed(Struct):
    """One request that failed; `rank` is None and `node` "" where that is not known."""

    time: float
    step: int | None
    rank: int | None
    node: str
    subject: str
    kind: str
    text: str
    retried: bool


class StorageFailureMemory(Struct):
    """The failed requests of the attempt, and the first of those that a rank has failed of; None before."""

    failed: list[Failed] = field(default_factory=list)
    told: Failed | None = None


class StorageFailure(Sign[StorageFailureMemory]):
    """Tell that ranks failed of their storage, whether it refused or failed them, and whether one node only."""

    name = "storage_failure"
    memory = StorageFailureMemory

    def event(self, memory: StorageFailureMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Follow requests that fail, and the ranks that fail after them."""
        match event.event:
            case "attempt.started":
                memory.failed, memory.told = [], None
            case "storage.error":
                _note(memory, scene, event)
                yield from self._again(memory, scene)
            case "rank.error":
                _read(memory, scene, event)
                yield from self._because(memory, scene, event)
            case "rank.exit" if event.data.get("exit_code"):
                yield from self._because(memory, scene, event)
            case "attempt.ended" if event.data.get("reason") == "failed":
                yield from self._because(memory, scene, event)

    def _because(self, memory: StorageFailureMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """A rank has failed: look for what the storage did to it shortly before."""
        if memory.told is not None or error_kind(f"{event.data.get('error', '')} {event.text}") != "other":
            return
        rank = as_count(event.data.get("rank"))
        recent = [one for one in memory.failed if event.time - FOLLOWS_SECONDS <= one.time <= event.time]
        grave = [one for one in recent if not one.retried and (None in (rank, one.rank) or one.rank == rank)]
        if grave:
            memory.told = min(recent, key=lambda one: one.time)
            yield from self._again(memory, scene)

    def _again(self, memory: StorageFailureMemory, scene: Scene) -> Iterator[Seen]:
        if memory.told is None:
            return
        first = memory.told
        all_of_it = [one for one in memory.failed if one.time >= first.time]
        nodes = _only_node(all_of_it, scene)
        what = first.text or first.kind or "a request failed"
        yield Seen(
            sign=self.name,
            subject=f"mount:{first.subject}" if first.subject else "job",
            part="client" if nodes else first.kind,
            onset_time=first.time,
            onset_step=first.step,
            nodes=nodes,
            ranks=tuple(sorted({one.rank for one in all_of_it if one.rank is not None})) if nodes else (),
            numbers={"requests": float(len(all_of_it))},
            text=(
                f"{count(len(all_of_it), 'request')} to {first.subject or 'the storage'} failed before the job did"
                f"{', all of ' + nodes[0] if nodes else ''}: {what}"
            ),
            passes=20,
        )


def _note(memory: StorageFailureMemory, scene: Scene, event: Event) -> None:
    rank = as_count(event.data.get("rank"))
    said = f"{event.data.get('code', '')} {event.data.get('reason', '')} {event.text}"
    runs_ranks = event.node in scene.attempt.participants.nodes
    failed = Failed(
        time=event.time,
        step=scene.step,
        rank=rank,
        node=scene.node_of(rank) if rank is not None and scene.node_of(rank) else event.node if runs_ranks else "",
        subject=event.subject,
        kind=storage_kind(said) or "failed",
        text=event.text,
        retried=is_worth_retrying(said),
    )
    memory.failed = [*memory.failed[1 - KEPT :], failed]


def _read(memory: StorageFailureMemory, scene: Scene, event: Event) -> None:
    """An error that says itself that the storage failed is as good as a word of the storage."""
    said = f"{event.data.get('error', '')} {event.text}"
    rank, kind = as_count(event.data.get("rank")), storage_kind(said)
    if kind and not any(one.rank == rank for one in memory.failed):
        node = scene.node_of(rank) if rank is not None else ""
        memory.failed = [
            *memory.failed[1 - KEPT :],
            Failed(event.time, scene.step, rank, node, "", kind, event.text or said, False),
        ]


def _only_node(failed: list[Failed], scene: Scene) -> tuple[str, ...]:
    """The node whose ranks alone are failed, where several of them are and other nodes could tell; else nothing."""
    nodes, ranks = {one.node for one in failed}, {one.rank for one in failed if one.rank is not None}
    of_all = {node for node in scene.attempt.participants.nodes if node}
    broken = all(one.kind == "failed" for one in failed)
    alone = len(nodes) == 1 and "" not in nodes and len(of_all) >= FEWEST_NODES
    return tuple(nodes) if broken and alone and len(ranks) >= FEWEST_RANKS else ()
