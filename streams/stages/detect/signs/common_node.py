"""Runs that are worse than others, and the one node that all of them had and no good one: found across runs only."""

import math
import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, is_finite
from schemas.wording import count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 3
"""Runs with the node, and runs without it."""
APART = 4.0
"""Standard deviations within the groups by which their middles have to differ."""
ORDERED = 0.98
"""Share of the pairs of runs with and without the node in which the one with it is worse."""
LUCK = 0.01
"""Chance, over all nodes that may be at fault, that runs fall into such an order although no node is."""
KEPT = 400

MEASURES: dict[str, tuple[str, float, float]] = {
    "loss_rise": ("loss", 1.0, 0.005),
    "nccl_bus_bytes_per_second": ("links", -1.0, 0.001),
    "step_seconds": ("pace", 1.0, 0.001),
}
"""Measure of a run -> part, direction that hurts, and the smallest difference: of the level, for `loss` in itself."""


class Run(Struct):
    """One attempt that has ended: where it ran and what it came to."""

    job: str
    kind: str
    started: float
    nodes: list[str]
    values: dict[str, float]


class CommonNodeMemory(Struct):
    """The last runs of the cluster, and what is told: measure and node."""

    runs: list[Run] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


class CommonNode(Sign[CommonNodeMemory]):
    """Compare the runs with every node to those without it; convict only where one node alone explains it."""

    name = "common_node"
    memory = CommonNodeMemory

    def event(self, memory: CommonNodeMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take the summary of a run that has ended."""
        if event.event != "job.summary":
            return
        run = _run(event)
        memory.runs = [*memory.runs[1 - KEPT :], run]
        alike = [one for one in memory.runs if one.kind == run.kind]
        for measure in sorted(run.values):
            if measure in MEASURES:
                yield from self._measure(memory, measure, [one for one in alike if measure in one.values])

    def _measure(self, memory: CommonNodeMemory, measure: str, runs: list[Run]) -> Iterator[Seen]:
        nodes = sorted({node for run in runs for node in run.nodes})
        guilty = [node for node in nodes if is_apart(measure, *_split(runs, measure, node))]
        if len(guilty) != 1 or is_luck(measure, len(nodes), *_split(runs, measure, guilty[0])):
            return
        node, part = guilty[0], MEASURES[measure][0]
        key = f"{measure}|{node}"
        if key not in memory.told:
            memory.told.append(key)
        worse, others = _split(runs, measure, node)
        yield Seen(
            sign=self.name,
            subject=f"node:{node}",
            again=measure,
            part=part,
            onset_time=min(run.started for run in runs if node in run.nodes),
            nodes=(node,),
            before=statistics.median(others),
            after=statistics.median(worse),
            numbers={"runs_with": float(len(worse)), "runs_without": float(len(others))},
            text=(
                f"{measure} is {statistics.median(worse):.4g} in {count(len(worse), 'run')} with {node} and "
                f"{statistics.median(others):.4g} in {count(len(others), 'run')} without it; no other node explains it"
            ),
        )


def is_apart(measure: str, worse: list[float], others: list[float]) -> bool:
    """Tell whether the runs with a node are worse than those without it, beyond doubt.

    >>> is_apart("step_seconds", [2.1, 2.11, 2.1], [2.0, 2.01, 2.0, 2.0])
    True
    >>> is_apart("step_seconds", [2.1, 2.0, 2.1], [2.0, 2.01, 2.0, 2.0])
    False
    """
    if min(len(worse), len(others)) < FEWEST:
        return False
    sign, middle = MEASURES[measure][1], statistics.median(others)
    difference = sign * (statistics.median(worse) - middle)
    spread = max(_spread(worse), _spread(others))
    pairs = sum(sign * (bad - good) > 0 for bad in worse for good in others) / (len(worse) * len(others))
    return difference >= max(APART * spread, _least(measure, middle)) and pairs >= ORDERED


def is_luck(measure: str, nodes: int, worse: list[float], others: list[float]) -> bool:
    """Tell whether among so many nodes one may have had these runs by chance; runs that are all bad are not.

    >>> is_luck("step_seconds", 20, [2.1, 2.11, 2.003], [2.0, 2.001, 2.002])
    True
    >>> is_luck("step_seconds", 20, [2.1, 2.11, 2.09], [2.0, 2.001, 2.002])
    False
    """
    sign, middle = MEASURES[measure][1], statistics.median(others)
    beyond = max(APART * _spread(others), _least(measure, middle))
    if all(sign * (value - middle) >= beyond for value in worse):
        return False
    return math.comb(len(worse) + len(others), len(worse)) * LUCK < nodes


def _least(measure: str, level: float) -> float:
    """The smallest difference that counts, at a level of the measure."""
    part, _, least = MEASURES[measure]
    return least if part == "loss" else least * abs(level)


def _split(runs: list[Run], measure: str, node: str) -> tuple[list[float], list[float]]:
    worse = [run.values[measure] for run in runs if node in run.nodes]
    return worse, [run.values[measure] for run in runs if node not in run.nodes]


def _spread(values: list[float]) -> float:
    """A robust standard deviation, of few values the smaller half's: a fault may begin anywhere in a run."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def _run(event: Event) -> Run:
    data = event.data
    given, measured, started = data.get("nodes"), data.get("values"), data.get("started")
    nodes = [node for node in given if isinstance(node, str)] if isinstance(given, list) else []
    numbers = measured.items() if isinstance(measured, dict) else ()
    values = {name: float(value) for name, value in numbers if isinstance(value, int | float) and is_finite(value)}
    began = float(started) if isinstance(started, int | float) and is_finite(started) else event.time
    return Run(event.subject, str(data.get("kind")), began, nodes, values)
