"""A simulated job of some size that meets what it is given, through the whole line."""

from typing import Any

import numpy as np

from schemas.codec import encode
from streams.agents.simulation.decoys import DailyDrift, LoneStalls, WarmUp
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario
from streams.agents.simulation.simulation import Simulation
from tests.acceptance.replaying import replayed


def told(
    nodes: int, gpus: int, *influences: Influence, seed: int = 1, steps: int = 450
) -> list[dict[str, Any]]:  # Any: plain data
    """The incidents of a job of so many nodes and GPUs each, which has a warm-up, a day and lone stalls besides."""
    job = Job(name="simulated", nodes=nodes_named(nodes), gpus_per_node=gpus)
    always = (WarmUp(onset=1), DailyDrift(onset=0), LoneStalls(onset=1))
    leg = Leg(job=job, steps=(1, steps), influences=(*always, *influences))
    simulation = Simulation(Scenario(name="simulated", summary="", legs=(leg,)), np.random.default_rng(seed))
    records = []
    while not simulation.finished:
        records += simulation.advance()
    return list(replayed(encode(record) + b"\n" for record in records)["incidents"])
