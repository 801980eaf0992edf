"""A job that is slow already is hit by something else: two incidents, each with its own cause, numbers and cost."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from schemas.codec import encode
from streams.agents.simulated import arrivals
from streams.agents.simulation.gpu_faults import SlowRank
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario
from streams.agents.simulation.simulation import Simulation
from streams.agents.simulation.storage_faults import StorageStutter
from tests.acceptance.replaying import replayed

SLOW, STARVED, FED_AGAIN, WELL, LAST = 1_100, 1_250, 1_340, 1_500, 1_600
EVERY_RANK = tuple(range(8))


@cache
def told(seed: int, factor: float) -> list[dict[str, Any]]:  # Any: plain data
    """The incidents of a job whose GPUs all become slower, and whose storage stutters meanwhile."""
    influences = (
        SlowRank(onset=SLOW, ranks=EVERY_RANK, factor=factor, duration=WELL - SLOW),
        StorageStutter(onset=STARVED, duration=FED_AGAIN - STARVED, shares=((0, 0.03), (2, 0.6), (300, 0.6))),
    )
    leg = Leg(job=Job(name="both", nodes=nodes_named(1), tokens=262_144), steps=(1_000, LAST), influences=influences)
    simulation = Simulation(Scenario(name="both", summary="", legs=(leg,)), np.random.default_rng(seed))
    lines = [encode(record) + b"\n" for batch in arrivals(simulation, None) for record in batch]
    incidents: Any = replayed(lines)["incidents"]  # Any: plain data
    return sorted(incidents, key=lambda one: one["onset_step"])


@pytest.mark.parametrize("factor", [1.08, 1.2])
@pytest.mark.parametrize("seed", [1, 2])
def test_each_has_its_own_cause_and_time(seed: int, factor: float) -> None:
    """The slowness before it is not blamed on the storage, nor the storage's on what was slow before."""
    slow, starved = told(seed, factor)
    assert (slow["cause"], starved["cause"]) == ("unknown", "loader_starved_by_storage")
    assert abs(slow["onset_step"] - SLOW) <= 5
    assert abs(starved["onset_step"] - STARVED) <= 5
    assert abs(slow["end_step"] - WELL) <= 5
    assert abs(starved["end_step"] - FED_AGAIN) <= 5


@pytest.mark.parametrize("factor", [1.08, 1.2])
def test_each_has_its_own_numbers(factor: float) -> None:
    """What the storage took away is told of the storage alone, from where the job stood before."""
    slow, starved = told(1, factor)
    assert "−6 %" in slow["title"] or "−13 %" in slow["title"]
    assert "−6" in starved["title"]
    assert not any("−6" in one["text"] and "−6 %" not in one["text"] for one in slow["evidence"])


def test_each_has_its_own_cost() -> None:
    """Most of the time was lost to the storage, though it came second."""
    slow, starved = told(1, 1.2)
    assert starved["gpu_hours_lost"] > 2 * slow["gpu_hours_lost"] > 0
