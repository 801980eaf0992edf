"""An early word on a hang wakes people at once, and restarts nothing before the standstill has lasted."""

from typing import Any

import numpy as np
import pytest

from schemas.codec import encode
from schemas.telemetry import Inbound, StepFrame, Telemetry
from streams.agents.simulated import arrivals
from streams.agents.simulation.scenarios import scenario_named
from streams.agents.simulation.simulation import Simulation
from tests.acceptance.replaying import replayed


def hanging(seconds: float) -> dict[str, Any]:  # Any: plain data
    """The incident of a job that saves and then hangs, after so many seconds of it."""
    simulation = Simulation(scenario_named("hang_of_a_saving_job"), np.random.default_rng(5))
    records: list[Inbound] = [record for batch in arrivals(simulation, None) for record in batch]
    stopped = max(one.time for one in records if isinstance(one, StepFrame))
    kept = [one for one in records if isinstance(one, Telemetry) and one.time <= stopped + seconds]
    [incident] = replayed([encode(one) for one in kept])["incidents"]
    return {**incident, "stopped": stopped}


@pytest.mark.parametrize(("seconds", "severity"), [(60.0, "error"), (250.0, "error"), (880.0, "critical")])
def test_what_is_done_depends_on_how_long_it_lasts(seconds: float, severity: str) -> None:
    """After half a minute people are told; a restart is for a standstill that has lasted as long as any other must."""
    incident = hanging(seconds)
    assert (incident["cause"], incident["severity"]) == ("hang", severity)
    assert incident["opened_time"] - incident["stopped"] <= 30.0
    actions = {one["action"] for one in incident["actions"]}
    assert "notify" in actions
    assert ("job.restart" in actions) == (severity == "critical")
