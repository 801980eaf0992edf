"""Benchmarks that stay below the target they carry, and the one node that all of them have in common."""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, is_finite
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

SHORT = 0.95
"""Share of its target from which on a benchmark has reached it."""
KEPT = 500
"""Results that are kept, the last of every kind and set of nodes."""
KINDS = (
    (
        "network",
        re.compile(
            r"nccl|rccl|reduce|gather|scatter|all_?to_?all|broadcast|p2p|rdma|\bib_|nvlink|link|\bbus|pcie|h2d|d2h",
            re.IGNORECASE,
        ),
    ),
    ("storage", re.compile(r"disk|storage|\bfio\b|write|(?<![a-z])read|mount|checkpoint", re.IGNORECASE)),
    ("gpu", re.compile(r"gemm|matmul|flops|hbm|gpu|burn|compute|memory|stream", re.IGNORECASE)),
)
"""Part -> what a benchmark is called that measures it; the first that fits counts."""


class Result(Struct):
    """The last result of one benchmark on some nodes: Unix seconds, and the share of its target that was reached."""

    time: float
    nodes: list[str]
    measured: float
    target: float


class Told(Struct):
    """What is told of one benchmark: since when, and the node that was named, or ""."""

    since: float
    node: str = ""


class MissedTargetMemory(Struct):
    """The last results, by benchmark and nodes, and what is told of each benchmark; storage by mount."""

    results: dict[str, dict[str, Result]] = field(default_factory=dict)
    told: dict[str, Told] = field(default_factory=dict)


class MissedTarget(Sign[MissedTargetMemory]):
    """Hold benchmarks against their own target; name the node that all low ones have, and no good one."""

    name = "missed_target"
    memory = MissedTargetMemory

    def event(self, memory: MissedTargetMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a result."""
        what, result = str(event.data.get("what") or ""), _result(event)
        part = next((part for part, names in KINDS if names.search(what)), "")
        if event.event != "benchmark" or result is None or not part:
            return
        mount = f"mount:{event.subject}" if part == "storage" and event.subject else "job"
        place = f"{what}|{mount}"
        results = memory.results.setdefault(place, {})
        _keep(results, result)
        low = [one for one in results.values() if one.measured < SHORT * one.target]
        if low:
            told = memory.told.setdefault(place, Told(min(one.time for one in low)))
            told.node = _common(low, [one for one in results.values() if one not in low], told.node)
            yield self._seen(what, part, mount, low, len(results), told)
        elif place in memory.told:
            again = f"{what}|{memory.told.pop(place).since:.3f}"
            yield Seen(sign=self.name, subject=mount, again=again, onset_time=event.time, over=True)

    def _seen(self, what: str, part: str, mount: str, low: list[Result], of: int, told: Told) -> Seen:
        worst = min(low, key=lambda one: one.measured / one.target)
        who = f"; {told.node} is in all of these and in no other" if len(low) > 1 and told.node else ""
        single = part == "network" and all(len(one.nodes) == 1 for one in low)
        return Seen(
            sign=self.name,
            subject=mount,
            again=f"{what}|{told.since:.3f}",
            part="links" if single else part,
            onset_time=told.since,
            nodes=(told.node,) if told.node else (),
            before=worst.target,
            after=worst.measured,
            numbers={"below": float(len(low)), "of": float(of)},
            text=(
                f"{what} misses its target in {len(low)} of {count(of, 'benchmark')}, "
                f"at worst by {1 - worst.measured / worst.target:.0%}{who}"
            ),
        )


def _keep(results: dict[str, Result], result: Result) -> None:
    key = ",".join(sorted(result.nodes))
    if key in results and results[key].time > result.time:
        return
    results.pop(key, None)
    results[key] = result
    if len(results) > KEPT:
        del results[next(iter(results))]


def _common(low: list[Result], good: list[Result], named: str) -> str:
    """Name the one node that every low result has and no good one; nobody where there are several or none.

    Who was named stays so while all low results have it: good ones may have come after its repair.
    """
    everywhere = set(low[0].nodes).intersection(*(one.nodes for one in low))
    if named in everywhere:
        return named
    suspects = everywhere - {node for one in good for node in one.nodes}
    return suspects.pop() if len(suspects) == 1 else ""


def _result(event: Event) -> Result | None:
    """Read a result that can be held against a target; None where it cannot."""
    data = event.data
    target = data.get("target")
    measured = data.get("bus_bytes_per_second", data.get("bytes_per_second", data.get("value")))
    numbers = [float(one) for one in (measured, target) if isinstance(one, int | float) and is_finite(one)]
    if len(numbers) < 2 or numbers[1] <= 0:
        return None
    given = data.get("nodes")
    nodes = [node for node in given if isinstance(node, str)] if isinstance(given, list) else []
    return Result(event.time, nodes or [event.node], numbers[0], numbers[1])
