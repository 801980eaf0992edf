"""Attempts that fail: once, again and again, on one node they share, or because a node leaves.

A failure that survives a restart is one story over all attempts. Nodes are compared by placement, never by rank.
"""

import math
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import count
from streams.stages.detect.attempt import is_through
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.error_kind import error_kind
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOP = 3
"""So many failures without one good attempt between them are a loop."""
WELL_STEPS = 20
"""An attempt that trained so many steps, and twice as many as the one that failed before it, has done well."""
MOSTLY = 0.75
"""A node has left each time if it was seen to leave in so large a share of the failures: a word may be lost."""
FEW = 0.25
"""Largest share of a placement that may be called what the failures have in common."""
BY_CHANCE = 0.15
"""Chance, at most, with which nodes that are all alike would be first so many times."""
TOLD_TO_END = 15
"""The signal with which a launcher ends who is left."""
FOLLOWED = (TOLD_TO_END, 6, 2)
"""Signals of those who follow: told to end, given up by a watchdog, or interrupted."""
KEPT = 64
TOGETHER_SECONDS = 0.5
"""Errors so close to each other have no first."""
APART_SECONDS = 1.0
"""So long before all others a rank has to end to have ended first."""
LATE_SECONDS = 10.0
"""So long the last steps of a failed attempt may still come in."""


class Failure(Struct):
    """One attempt that failed: where it ran, how far it came, what was complained of, and which nodes had left.

    Attributes:
        exited: the rank whose process ended before all others, and its node.
        erred: the ranks that raised an error first, else `exited`, and their node where it is one.
    """

    nodes: list[str]
    steps: int
    kind: str
    left: list[str]
    exited: int | None = None
    exited_on: str = ""
    erred: list[int] = field(default_factory=list)
    erred_on: str = ""


class CrashMemory(Struct):
    """Failures since the last attempt that did well, and what the present attempt has said so far.

    Attributes:
        onset: Unix seconds and step of the first failure.
        good: nodes of the last attempt that did well.
        nodes: of the present attempt.
        trained: steps closed in it.
        sign: Unix seconds of the first complaint in it.
        exits: rank -> Unix seconds at which its process ended, and its exit code.
        errors: rank -> Unix seconds of its first error.
        due: when the last failure is told: late records of its last steps may still come; None when it is told.
    """

    failures: list[Failure] = field(default_factory=list)
    onset: float = 0.0
    onset_step: int | None = None
    good: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    trained: int = 0
    sign: float | None = None
    kind: str = ""
    exits: dict[int, tuple[float, int]] = field(default_factory=dict)
    errors: dict[int, float] = field(default_factory=dict)
    due: float | None = None


class Crash(Sign[CrashMemory]):
    """Tell of failed attempts as one finding, and of the node that is in all of them and in no good one."""

    name = "crash"
    memory = CrashMemory

    def event(self, memory: CrashMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Follow the attempts and what they complain of."""
        match event.event:
            case "attempt.started":
                yield from self._tell(memory)
                memory.nodes = sorted(set(scene.attempt.participants.nodes) - {""})
                memory.left, memory.trained, memory.sign, memory.kind = [], 0, None, ""
                memory.exits, memory.errors = {}, {}
            case "node.left":
                memory.left = [*memory.left, event.subject]
                if memory.due is not None:  # the end of the attempt has overtaken it
                    memory.failures[-1].left = memory.left
                _complain(memory, event)
            case "rank.error" | "rank.exit" | "worker.killed":
                _complain(memory, event)
                if memory.due is not None:
                    _name_first(memory.failures[-1], memory, scene)
            case "log.line" if event.data.get("level") in ("ERROR", "FATAL", "CRITICAL"):
                _complain(memory, event)
            case "attempt.ended":
                self._ended(memory, scene, event)

    def time(self, memory: CrashMemory, scene: Scene) -> Iterator[Seen]:
        """Tell of a failure when nothing of the attempt can come any more."""
        if memory.due is None:
            return
        if len(memory.failures) == 1 and scene.attempt.ended is not None:
            memory.onset_step = scene.step
        if scene.clock >= memory.due:
            yield from self._tell(memory)

    def step(self, memory: CrashMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Count the steps of the attempt; when it has done well, what failed before is over."""
        memory.trained += 1
        if not memory.failures or memory.trained < max(WELL_STEPS, 2 * memory.failures[-1].steps):
            return
        memory.good = memory.nodes
        seen = self._told(memory)
        memory.failures = []
        seen.over = True
        yield seen

    def _tell(self, memory: CrashMemory) -> Iterator[Seen]:
        if memory.due is not None:
            memory.due = None
            yield self._told(memory)

    def _ended(self, memory: CrashMemory, scene: Scene, event: Event) -> None:
        if event.data.get("reason") != "failed":
            return
        nodes = memory.nodes or sorted(set(scene.attempt.participants.nodes) - {""})
        if not memory.failures:
            memory.onset = min(memory.sign, event.time) if memory.sign is not None else event.time
            memory.onset_step = scene.step
        first = None if is_through(scene.attempt) else _first_exit(memory)
        where = scene.node_of(first) if first is not None else ""
        failure = Failure(nodes, memory.trained, memory.kind, memory.left, first, where)
        _name_first(failure, memory, scene)
        memory.failures = [*memory.failures[1 - KEPT :], failure]
        memory.due = event.time + LATE_SECONDS

    def _told(self, memory: CrashMemory) -> Seen:
        failures = memory.failures
        part, nodes = _verdict(memory)
        first = failures[0].exited
        ranks = (first,) if part == "exit" and first is not None else ()
        times = "failed" if len(failures) == 1 else f"failed {len(failures)} times in a row"
        who = f"; {', '.join(nodes)} {_WHAT_IT_DID[part]}" if nodes else ""
        return Seen(
            sign=self.name,
            part=part,
            onset_time=memory.onset,
            onset_step=memory.onset_step,
            ranks=ranks,
            nodes=nodes or ((failures[0].exited_on,) if ranks and failures[0].exited_on else ()),
            numbers={"failures": float(len(failures))},
            text=f"the job {times}, the last time after {count(failures[-1].steps, 'step')}{who}",
        )


def _complain(memory: CrashMemory, event: Event) -> None:
    if event.event == "rank.exit" and event.data.get("exit_code") == 0:
        return  # it has ended well
    rank = as_count(event.data.get("rank"))
    if event.event == "rank.error" and rank is not None:
        memory.errors[rank] = min(event.time, memory.errors.get(rank, event.time))
    code = event.data.get("exit_code")
    if event.event == "rank.exit" and rank is not None and isinstance(code, int | float) and code:
        memory.exits.setdefault(rank, (event.time, int(code)))
    text = f"{event.data.get('error', '')} {event.text}".strip()
    kind = error_kind(text, loading=memory.trained == 0) if text else ""
    if memory.sign is None:
        memory.sign = event.time
    if memory.kind in ("", "other") and kind:
        memory.kind = kind


def _verdict(memory: CrashMemory) -> tuple[str, tuple[str, ...]]:
    failures = memory.failures
    leavers = Counter(node for one in failures for node in set(one.left))
    always = tuple(sorted(node for node, times in leavers.items() if times >= MOSTLY * len(failures)))
    if len(failures) > 1:
        if always:
            return "leaving", always
        common = shared_nodes([one.nodes for one in failures], memory.good)
        if common:
            return "common", common
        first = _always_first(failures)
        if first:
            device = all(one.kind == "device" for one in failures)
            return "common" if device else "first", (first,)
    kind = failures[0].kind
    if len(failures) >= LOOP and not all(one.kind == "save" for one in failures):
        return "loop", ()
    return kind or ("exit" if failures[0].exited is not None else ""), ()


_WHAT_IT_DID = {
    "leaving": "left each time",
    "common": "was in all of them",
    "first": "was the first to fail each time, by one rank or another",
}


def _name_first(failure: Failure, memory: CrashMemory, scene: Scene) -> None:
    """Note who raised an error or ended first, and on which node; several at once on several nodes are nobody."""
    if not memory.errors:
        failure.erred = [failure.exited] if failure.exited is not None else []
        failure.erred_on = failure.exited_on
        return
    began = min(memory.errors.values())
    failure.erred = sorted(rank for rank, time in memory.errors.items() if time - began <= TOGETHER_SECONDS)
    nodes = {scene.node_of(rank) for rank in failure.erred}
    failure.erred_on = nodes.pop() if len(nodes) == 1 else ""


def _always_first(failures: list[Failure]) -> str:
    """Name the node on which every failure began, or "".

    The same rank each time may be what it has to do, like rank 0; chance must not explain it either.
    """
    nodes = {one.erred_on for one in failures}
    ranks = {rank for one in failures for rank in one.erred}
    chance = math.prod(1 / max(1, len(one.nodes)) for one in failures[1:])
    return failures[0].erred_on if len(nodes) == 1 and len(ranks) > 1 and chance <= BY_CHANCE else ""


def _first_exit(memory: CrashMemory) -> int | None:
    """The rank that ended clearly before all others, or hardly before them and it alone by itself; None = nobody did.

    Who is told to end by a launcher, or gives up waiting, has followed others; who crashes after them was torn down.
    """
    order = sorted((time, rank) for rank, (time, code) in memory.exits.items() if signal_of(code) != TOLD_TO_END)
    if len(order) == 1 or (len(order) > 1 and order[1][0] - order[0][0] >= APART_SECONDS):
        return order[0][1]
    own = [rank for _, rank in order if signal_of(memory.exits[rank][1]) not in (0, *FOLLOWED)]
    return own[0] if len(own) == 1 and own[0] == order[0][1] else None


def signal_of(code: int) -> int:
    """The number of the signal that ended a process: told as its negative, or as 128 more by a shell; 0 = none did.

    >>> signal_of(-9), signal_of(137), signal_of(1)
    (9, 9, 0)
    """
    return -code if code < 0 else max(0, code - 128)


def shared_nodes(failed: list[list[str]], good: list[str]) -> tuple[str, ...]:
    """Name the nodes that all failed placements share and a good one does not have, where they are few.

    >>> shared_nodes([["a", "b", "c", "d", "e"], ["c", "f", "g", "h"]], []), shared_nodes([["a", "b"], ["a", "b"]], [])
    (('c',), ())
    """
    common = set(failed[0]).intersection(*failed[1:]) - set(good)
    smallest = min(len(nodes) for nodes in failed)
    return tuple(sorted(common)) if len(common) <= FEW * smallest else ()
