"""How right the verdicts are on a simulated cluster: faults of many sizes, decoys, and telemetry with defects.

Backgrounds are resampled from recorded step times, the job is synchronous, a third of the sized faults is under 10 %,
and every run loses, repeats, delays and reorders some of its records. Ticks come every five seconds, as a runtime sends
them: where everybody falls silent, nothing else lets time pass.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct, structs

from bench.table import Table
from bench.ticking import heard
from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode, encode
from schemas.incident import Incident
from schemas.telemetry import StepFrame
from streams.agents.simulation.fault_scenarios import ONSET
from streams.agents.simulation.scenario import Scenario
from streams.agents.simulation.scenarios import SCENARIOS, scenario_named
from streams.agents.simulation.simulation import Simulation
from streams.line import Line
from streams.replay import Outcome, replay, summary
from streams.topology import topology

SEEDS = (101, 102, 103)
SIZED: dict[str, tuple[str, tuple[tuple[float, float], ...]]] = {
    "slow_rank": ("factor", ((1.02, 0.02), (1.05, 0.05), (1.08, 0.08), (1.15, 0.15), (1.35, 0.35), (2.0, 1.0))),
    "slow_node": ("factor", ((1.04, 0.04), (1.068, 0.07), (1.2, 0.2))),
    "thermal": ("drop", ((0.07, 0.07), (0.2, 0.25), (0.3, 0.43))),
    "network": ("loss", ((0.08, 0.09), (0.28, 0.39), (0.46, 0.85))),
    "host_cpu": ("share", ((0.08, 0.06), (0.2, 0.22), (0.3, 0.39))),
}
"""Scenario -> parameter of its fault, and its values with the slowdown of the job that each of them means."""
STOPPAGES = ("hang", "hang_of_a_saving_job", "telemetry_stops", "node_silent", "memory_leak")
"""Faults that show by what no longer comes: nobody can tell before the usual pause has been outgrown."""
GOAL_STEPS, GOAL_SECONDS = 10, 30.0
"""An incident is in time within ten usual steps of its onset, or within half a minute where that is longer."""
BELIEFS = (0.0, 0.5, 0.7, 0.85, 0.95, 1.01)
"""Edges of the classes of belief that are held against how often it was right."""


class Run(Struct):
    """One simulated run and what was said of it.

    Attributes:
        size: slowdown of the job, NaN where a fault has no size.
        hit: an incident in the right layer, dated right.
        named: it names whom it should and nobody else.
        wrong: incidents beside it.
        delay: seconds from the onset to its opening; `told`: until it was sent, after the hold.
        goal: seconds that are in time.
        beliefs: belief of each incident of the run in its cause, and whether the layer was right.
    """

    name: str
    size: float
    fault: bool
    hit: bool = False
    named: bool = False
    wrong: int = 0
    delay: float = math.nan
    told: float = math.nan
    goal: float = GOAL_SECONDS
    gpu_days: float = 0.0
    beliefs: tuple[tuple[float, bool], ...] = ()


def run() -> Table:
    """Simulate, replay and count."""
    runs = [judged(scenario, size, seed) for scenario, size in scenarios() for seed in SEEDS]
    faults, decoys = [one for one in runs if one.fault], [one for one in runs if not one.fault]
    told = [one for one in faults if math.isnan(one.size) and one.name not in STOPPAGES]
    rows = [*_by_size(faults), _row("faults without a size, told by counters or events", told)]
    rows.append(_row("stoppages", [one for one in faults if one.name in STOPPAGES]))
    rows.append(_row("all faults", faults))
    rows.append(_decoys(decoys))
    rows += _calibration(runs)
    columns = (
        "runs of",
        "runs",
        "recall",
        "precision",
        "culprit right",
        "opened p50 s",
        "p90 s",
        "in time",
        "sent p90 s",
        "sent in time",
    )
    what = f"{len(runs)} simulated runs, telemetry with defects, seeds {SEEDS}; recall: right layer, right onset"
    return Table("verdicts", what, columns, tuple(rows))


def scenarios() -> Iterator[tuple[Scenario, float]]:
    """Every scenario, those with a size once for each of its sizes."""
    for name in SCENARIOS:
        scenario = scenario_named(name)
        parameter, values = SIZED.get(name, ("", ()))
        if not values:
            yield scenario, math.nan
        for value, size in values:
            yield _sized(scenario, parameter, value), size


def judged(scenario: Scenario, size: float, seed: int) -> Run:
    """Simulate one run, replay it and hold what was said against what befell it."""
    lines = [encode(record) + b"\n" for record in heard(Simulation(scenario, np.random.default_rng(seed)), seed)]
    causes = load_causes()
    outcome = replay(Line(topology(causes, load_playbooks(causes=causes))), lines)
    incidents: list[dict[str, Any]] = summary(outcome)["incidents"]  # Any: plain data
    found = Run(scenario.name, size, bool(scenario.expect.layers))
    found.gpu_days = _gpu_days(scenario, lines)
    right = [one for one in incidents if _is_hit(scenario, one)]
    found.beliefs = tuple((one["confidence"], one["layer"] in scenario.expect.layers) for one in incidents)
    found.hit, found.wrong = bool(right), len(incidents) - len(right[:1])
    if right:
        found.named = _is_named(scenario, right[0])
        _date(found, scenario, lines, outcome, right[0])
    return found


def _sized(scenario: Scenario, parameter: str, value: float) -> Scenario:
    leg = scenario.legs[0]
    influences = tuple(structs.replace(one, **{parameter: value}) for one in leg.influences)
    return structs.replace(scenario, legs=(structs.replace(leg, influences=influences), *scenario.legs[1:]))


def _is_hit(scenario: Scenario, incident: dict[str, Any]) -> bool:  # Any: plain data
    expect = scenario.expect
    first, last = expect.onset or (0, 0)
    step = incident["onset_step"]
    return incident["layer"] in expect.layers and step is not None and first <= step <= last


def _is_named(scenario: Scenario, incident: dict[str, Any]) -> bool:  # Any: plain data
    """It names the nodes of the culprits, and where it names ranks, theirs; all together are nobody in particular."""
    expect, job = scenario.expect, scenario.legs[0].job
    nodes = set(expect.nodes) or {node for node in job.nodes if set(job.ranks_on(node)) & set(expect.ranks)}
    if not nodes:
        return set(incident["nodes"]) in (set(), set(job.nodes))
    return set(incident["nodes"]) == nodes and set(expect.ranks) <= set(incident["ranks"] or expect.ranks)


def _date(found: Run, scenario: Scenario, lines: list[bytes], outcome: Outcome, incident: dict[str, Any]) -> None:
    """Count from the step of the onset, or the last before it that was seen."""
    expect = scenario.expect
    onset = expect.onset[0] + 5 if expect.onset else ONSET
    frames = [one for one in map(decode, lines) if isinstance(one, StepFrame) and one.step <= onset]
    times = {one.step: one.time for one in frames}
    usual = float(np.median(np.diff([times[step] for step in sorted(times)])))
    began, found.goal = times[max(times)], max(GOAL_SECONDS, GOAL_STEPS * usual)
    found.delay = max(0.0, incident["opened_time"] - began)
    sent = [one.record for one in outcome.said if one.topic == "incidents" and isinstance(one.record, Incident)]
    found.told = max(0.0, min(one.updated_time for one in sent if one.id == incident["id"]) - began)


def _gpu_days(scenario: Scenario, lines: list[bytes]) -> float:
    times = [one.time for one in map(decode, lines) if isinstance(one, StepFrame)]
    return scenario.legs[0].job.world_size * (max(times) - min(times)) / 86400.0


def _by_size(faults: list[Run]) -> Iterator[tuple[str | float | int, ...]]:
    for low, high in ((0.0, 0.03), (0.03, 0.06), (0.06, 0.1), (0.1, 0.2), (0.2, math.inf)):
        words = f"faults of {low:.0%} to {high:.0%}" if math.isfinite(high) else f"faults of {low:.0%} and more"
        yield _row(words, [one for one in faults if low <= one.size < high])


def _row(words: str, runs: list[Run]) -> tuple[str | float | int, ...]:
    hits = [one for one in runs if one.hit]
    said = len(hits) + sum(one.wrong for one in runs)
    return (
        words,
        len(runs),
        len(hits) / max(1, len(runs)),
        len(hits) / max(1, said),
        sum(one.named for one in hits) / max(1, len(hits)),
        _quantile([one.delay for one in hits], 0.5),
        _quantile([one.delay for one in hits], 0.9),
        sum(one.delay <= one.goal for one in hits) / max(1, len(hits)),
        _quantile([one.told for one in hits], 0.9),
        sum(one.told <= one.goal for one in hits) / max(1, len(hits)),
    )


def _quantile(seconds: list[float], share: float) -> float | str:
    return float(np.quantile(seconds, share)) if seconds else "–"


def _decoys(runs: list[Run]) -> tuple[str | float | int, ...]:
    days = sum(one.gpu_days for one in runs) / 500.0
    wrong = sum(one.wrong + one.hit for one in runs)
    rate = wrong / max(days, 1e-9)
    words = f"decoys: {wrong} incidents in {days:.3f} days of 500 GPUs, {rate:.2g} a day"
    return (words, len(runs), *["–"] * 8)


def _calibration(runs: list[Run]) -> Iterator[tuple[str | float | int, ...]]:
    """How often the layer was right where the belief in the cause was so high."""
    told = [belief for one in runs for belief in one.beliefs]
    for low, high in itertools.pairwise(BELIEFS):
        right = [is_right for belief, is_right in told if low <= belief < high]
        words = f"incidents believed in by {low:.0%} to {min(high, 1.0):.0%}: layer right"
        share = sum(right) / len(right) if right else "–"
        yield (words, len(right), "–", share, *["–"] * 6)
