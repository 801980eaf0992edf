"""Every scenario of the simulator, with the defects of real telemetry, through the whole line."""

from functools import cache
from typing import Any

import pytest

from schemas.codec import Plain
from streams.agents.simulated import simulate
from streams.agents.simulation.scenario import Scenario
from streams.agents.simulation.scenarios import SCENARIOS, scenario_named
from tests.acceptance.replaying import replayed

ONCE = {"brief64", "network", "node_silent", "slow_node"}
"""Runs of many ranks are made with one seed."""
NOWHERE_ELSE = {"lone_stalls", "uneven_sequences"}
"""Legitimate runs that the acceptance tests do not make with another seed."""
RUNS = [
    (name, seed)
    for name in sorted(SCENARIOS)
    for seed in (1, 2)
    if seed == 1 or name in NOWHERE_ELSE or (name not in ONCE and scenario_named(name).expect.layers)
]
TROUBLE = [(name, seed) for name, seed in RUNS if scenario_named(name).expect.layers]
CALM = [(name, seed) for name, seed in RUNS if not scenario_named(name).expect.layers]
PEOPLE_ARE_TOLD = {"tell-people"}


@cache
def whole_of(name: str, seed: int) -> dict[str, Plain]:
    """What the line makes of a run."""
    return replayed(simulate(name, seed, defects=True))


def the_incident(name: str, seed: int) -> dict[str, Any]:  # Any: plain data
    """The one incident of a run."""
    [incident] = whole_of(name, seed)["incidents"]
    return dict(incident)


def _nodes_of(scenario: Scenario, ranks: tuple[int, ...]) -> set[str]:
    return {scenario.legs[0].job.node_of(rank) for rank in ranks}


@pytest.mark.parametrize(("name", "seed"), RUNS)
def test_everything_is_read(name: str, seed: int) -> None:
    """No record of a simulated run is refused; repeated ones are found out, and hardly any is too late."""
    whole = whole_of(name, seed)
    assert whole["records"] > 500
    assert whole["rejected"] == 0
    assert 0 < whole["repeated"] < 0.01 * whole["records"]
    assert whole["late"] < 0.005 * whole["records"]


@pytest.mark.parametrize(("name", "seed"), CALM)
def test_what_is_legitimate_pages_nobody(name: str, seed: int) -> None:
    """Ramps, saves, evaluations, restarts and noise are no incident."""
    assert whole_of(name, seed)["incidents"] == []


@pytest.mark.parametrize(("name", "seed"), TROUBLE)
def test_one_fault_is_one_incident(name: str, seed: int) -> None:
    """Each fault gives exactly one incident, in the right layer, dated to the right steps."""
    expect, incident = scenario_named(name).expect, the_incident(name, seed)
    assert incident["layer"] in expect.layers
    assert expect.onset is not None
    assert expect.onset[0] <= incident["onset_step"] <= expect.onset[1]


@pytest.mark.parametrize(("name", "seed"), TROUBLE)
def test_the_culprits_are_named_and_nobody_else(name: str, seed: int) -> None:
    """Ranks and nodes of the incident are those that have the fault; where nobody in particular has it, none."""
    scenario, incident = scenario_named(name), the_incident(name, seed)
    expect = scenario.expect
    nodes = set(expect.nodes) or _nodes_of(scenario, expect.ranks)
    assert set(incident["nodes"]) == nodes
    if expect.ranks:
        assert tuple(incident["ranks"]) == expect.ranks
    assert _nodes_of(scenario, tuple(incident["ranks"])) <= nodes


@pytest.mark.parametrize(("name", "seed"), TROUBLE)
def test_an_incident_tells_why(name: str, seed: int) -> None:
    """Causes are ranked by shares that sum to one, the leading one first; evidence is told; victims are no culprits."""
    incident = the_incident(name, seed)
    assert incident["causes"][0]["cause"] == incident["cause"]
    assert sum(one["score"] for one in incident["causes"]) == pytest.approx(1.0, abs=0.002)
    assert incident["confidence"] == pytest.approx(incident["causes"][0]["score"], abs=0.006)
    assert len(incident["evidence"]) >= 2
    assert not set(incident["ranks"]) & set(incident["affected"]["ranks"])
    assert not set(incident["nodes"]) & set(incident["affected"]["nodes"])
    assert incident["gpu_hours_lost"] >= 0


@pytest.mark.parametrize(("name", "seed"), TROUBLE)
def test_its_detections_stand_in_the_list(name: str, seed: int) -> None:
    """Every detection that an incident names was told, none in two incidents, and none is dated after it was found."""
    whole = whole_of(name, seed)
    told = {one["id"]: one for one in whole["detections"]}
    incident = the_incident(name, seed)
    assert set(incident["detections"]) <= set(told)
    for one in (told[id_] for id_ in incident["detections"]):
        assert one["onset_time"] <= one["time"]
        assert one["onset_step"] is None or one["step"] is None or one["onset_step"] <= one["step"]


@pytest.mark.parametrize(("name", "seed"), TROUBLE)
def test_nothing_is_done_unasked(name: str, seed: int) -> None:
    """With the modes that ship, people are told and nothing else is done; each entry has its reason."""
    actions = the_incident(name, seed)["actions"]
    assert {one["playbook"] for one in actions if one["decision"] == "act"} == PEOPLE_ARE_TOLD
    assert {one["decision"] for one in actions if one["playbook"] not in PEOPLE_ARE_TOLD} <= {"would_act", "refused"}
    assert all(one["reason"] for one in actions)


def test_the_worked_case_would_be_cured() -> None:
    """In the brief's case the cache and the deferred save would be used, and the step range be marked."""
    actions = {one["action"]: one["decision"] for one in the_incident("brief64", 1)["actions"]}
    assert {name: actions.get(name) for name in ("loader.use_cache", "checkpoint.defer", "taint.mark")} == {
        "loader.use_cache": "would_act",
        "checkpoint.defer": "would_act",
        "taint.mark": "would_act",
    }


@pytest.mark.parametrize(
    ("name", "severity"), [("hang", "critical"), ("xid", "critical"), ("nan", "critical"), ("storage", "error")]
)
def test_how_grave_it_is(name: str, severity: str) -> None:
    """What stops or spoils a job is critical, what slows it is an error, what is hardly felt a warning."""
    assert the_incident(name, 1)["severity"] == severity


@pytest.mark.parametrize(
    ("name", "longer"), [("slow_rank", 1.26), ("slow_node", 1.057), ("pcie", 1.12), ("host_cpu", 1.27)]
)
def test_what_it_has_cost_by_the_end(name: str, longer: float) -> None:
    """Of a fault that goes on, the last that is told has cost every second beyond the normal step on every GPU."""
    leg = scenario_named(name).legs[0]
    steps = leg.steps[1] - the_incident(name, 1)["onset_step"]
    by_hand = steps * leg.job.parts.seconds * (longer - 1) * leg.job.world_size / 3600
    assert the_incident(name, 1)["gpu_hours_lost"] == pytest.approx(by_hand, rel=0.12)


@pytest.mark.parametrize("name", ["storage", "data_mixture"])
def test_the_tainted_steps_reach_to_the_end(name: str) -> None:
    """Of a fault that goes on, every step from its onset to the last one is contaminated."""
    incident = the_incident(name, 1)
    last = scenario_named(name).legs[0].steps[1]
    assert incident["taint"]["from_step"] == incident["onset_step"]
    assert last - 2 <= incident["taint"]["to_step"] <= last
