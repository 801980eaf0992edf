"""Who is to blame, and who is not: stories of slow ranks, slow stages and jobs that stand still."""

import numpy as np
import pytest

from schemas.codec import encode
from streams.agents.simulated import simulate
from streams.agents.simulation.gpu_faults import SlowRank
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Expectation, Leg, Scenario
from streams.agents.simulation.simulation import Simulation
from tests.acceptance.replaying import replayed


def slow_rank_of_64(rank: int, seed: int) -> list[bytes]:
    """A job of 64 ranks in which one works 20 % longer from step 1,300 on."""
    job = Job(name="wide", nodes=nodes_named(8), tokens=1_048_576)
    fault = SlowRank(onset=1_300, ranks=(rank,), factor=1.2)
    legs = (Leg(job=job, steps=(1_000, 1_500), influences=(fault,)),)
    expect = Expectation(layers=("gpu",), onset=(1_295, 1_310))
    scenario = Scenario(name="wide", summary="one slow rank of 64", legs=legs, expect=expect)
    simulation = Simulation(scenario, np.random.default_rng(seed))
    lines: list[bytes] = []
    while not simulation.finished:
        lines += [encode(record) + b"\n" for record in simulation.advance()]
    return lines


@pytest.mark.parametrize(("rank", "seed"), [(37, 1), (0, 2), (63, 3)])
def test_one_slow_rank_of_64_is_blamed_with_its_node_and_gpu(rank: int, seed: int) -> None:
    """Step time is equal on all ranks, yet the one that works longer is named, and none of those who wait for it."""
    whole = replayed(slow_rank_of_64(rank, seed))
    [incident] = whole["incidents"]
    assert (incident["ranks"], incident["nodes"]) == ([rank], [f"n{rank // 8 + 1:02}"])
    assert incident["layer"] == "gpu"
    assert len(incident["gpus"]) == 1
    assert 1_298 <= incident["onset_step"] <= 1_304
    assert len(incident["affected"]["ranks"]) == 63


def test_pipeline_stages_of_different_length_blame_nobody() -> None:
    """The last stage works longer by layout, which is no incident."""
    assert replayed(simulate("pipeline_stages", 4, defects=True))["incidents"] == []


def test_a_hang_names_the_last_step_and_who_stopped_first() -> None:
    """With every GPU at 100 % and no step for minutes, the step and the rank that did not finish it are named."""
    [incident] = replayed(simulate("hang", 4, defects=True))["incidents"]
    assert (incident["cause"], incident["severity"], incident["onset_step"]) == ("hang", "critical", 1_300)
    assert incident["ranks"] == [4]


def test_a_planned_checkpoint_as_long_as_a_hang_is_none() -> None:
    """The announced phase explains the standstill."""
    assert replayed(simulate("planned_checkpoint_long", 4, defects=True))["incidents"] == []


@pytest.mark.parametrize("scenario", ["warmup", "evaluation", "batch_ramp", "restart_smaller", "quiet", "daily_drift"])
def test_legitimate_changes_are_no_incidents(scenario: str) -> None:
    """Warm-up, evaluation, an announced batch ramp and a restart with another world size raise nothing."""
    assert replayed(simulate(scenario, 9, defects=True))["incidents"] == []
