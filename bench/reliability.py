"""Whether belief means what it says: the same faults with parts of the sight taken away, so that verdicts can be wrong.

A simulated fault that is seen whole is named right at any belief, which says nothing of the belief. So each run is told
again without its GPU samples, without what the host says, without the storage's counters, and without the trainer's
parts of a step; what is left is weighed as ever, and belief is held against how often the cause was right.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec import Struct, structs

from bench.table import Table
from playbooks.load import load_causes, load_playbooks
from schemas.codec import encode
from schemas.telemetry import Inbound, SampleFrame, StepFrame
from streams.agents.simulated import arrivals, defects_for
from streams.agents.simulation.scenarios import scenario_named
from streams.agents.simulation.simulation import Simulation
from streams.line import Line
from streams.replay import replay, summary
from streams.topology import topology

Sight = Callable[[Inbound], Inbound | None]
SEED = 201
RIGHT: dict[str, tuple[str, ...]] = {
    "slow_rank": ("slow_gpu",),
    "slow_node": ("slow_node",),
    "thermal": ("gpu_thermal",),
    "power": ("gpu_power",),
    "pcie": ("gpu_link",),
    "network": ("network_congestion",),
    "storage": ("loader_starved_by_storage",),
    "host_cpu": ("loader_starved_by_host_cpu",),
}
"""Scenario -> what it is."""
PARTS = ("compute_seconds", "wait_seconds", "optimizer_seconds", "h2d_seconds", "host_prep_seconds")
BELIEFS = (0.0, 0.5, 0.7, 0.85, 0.95, 1.01)


class Told(Struct, frozen=True):
    """One incident: belief in its cause and in the causes of its layer, and whether either is right."""

    without: str
    belief: float
    in_layer: float
    named: bool
    placed: bool
    abstained: bool


def run() -> Table:
    """Simulate, take away, replay and count."""
    layers: dict[str, str] = {cause.cause: cause.layer for cause in load_causes()}
    told = [one for name in RIGHT for one in _told(name, layers)]
    rows = [
        (f"belief in {what} of {low:.0%} to {min(high, 1.0):.0%}", *_share(told, what, low, high))
        for what in ("the cause", "its layer")
        for low, high in itertools.pairwise(BELIEFS)
    ]
    rows += [_sight(without, told) for without in ("", *SIGHTS)]
    what = f"{len(RIGHT)} simulated faults, whole and without parts of the sight, seed {SEED}"
    return Table("reliability", what, ("incidents", "number", "mean belief", "right", "unknown"), tuple(rows))


def _told(name: str, layers: Mapping[str, str]) -> Iterator[Told]:
    simulation = Simulation(scenario_named(name), np.random.default_rng(SEED))
    records = [record for batch in arrivals(simulation, defects_for(SEED)) for record in batch]
    wanted = {layers[cause] for cause in RIGHT[name]}
    for without in ("", *SIGHTS):
        lines = [encode(one) + b"\n" for record in records if (one := SIGHTS.get(without, _whole)(record)) is not None]
        causes = load_causes()
        line = Line(topology(causes, load_playbooks(causes=causes)))
        for incident in summary(replay(line, lines))["incidents"]:
            same = [one["score"] for one in incident["causes"] if layers.get(one["cause"]) == incident["layer"]]
            yield Told(
                without,
                incident["confidence"],
                min(1.0, sum(same)),
                incident["cause"] in RIGHT[name],
                incident["layer"] in wanted,
                incident["cause"] == "unknown",
            )


def _share(told: list[Told], what: str, low: float, high: float) -> tuple[int, float | str, float | str, int]:
    of_cause = what == "the cause"
    chosen = [one for one in told if not one.abstained and low <= (one.belief if of_cause else one.in_layer) < high]
    beliefs = [one.belief if of_cause else one.in_layer for one in chosen]
    right = [one.named if of_cause else one.placed for one in chosen]
    return len(chosen), float(np.mean(beliefs)) if chosen else "–", float(np.mean(right)) if chosen else "–", 0


def _sight(without: str, told: list[Told]) -> tuple[str, int, float | str, float | str, int]:
    of_it = [one for one in told if one.without == without]
    sure = [one for one in of_it if not one.abstained]
    words = f"without {without}" if without else "seen whole"
    return (
        words,
        len(of_it),
        float(np.mean([one.belief for one in sure])) if sure else "–",
        float(np.mean([one.named for one in sure])) if sure else "–",
        len(of_it) - len(sure),
    )


def _whole(record: Inbound) -> Inbound | None:
    return record


def _without_parts(record: Inbound) -> Inbound | None:
    if not isinstance(record, StepFrame):
        return record
    return structs.replace(record, values={name: row for name, row in record.values.items() if name not in PARTS})


def _without_samples(*of: str) -> Sight:
    return lambda record: None if isinstance(record, SampleFrame) and record.of in of else record


SIGHTS: dict[str, Sight] = {
    "GPU samples": _without_samples("gpu"),
    "the host's samples": _without_samples("node", "disk"),
    "storage and network samples": _without_samples("mount", "nic"),
    "the trainer's parts of a step": _without_parts,
}
"""What is taken away -> how a record is told without it."""
