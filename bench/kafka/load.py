"""Telemetry of a large job: one frame of eight ranks per node and step, as agents send it."""

from collections.abc import Iterator

import numpy as np

from schemas.codec import encode
from schemas.telemetry import Event, Reading, StepFrame

RANKS_A_NODE = 8
START = 1_740_960_000.0


def frames(job: str, nodes: int, steps: int, step_seconds: float = 1.0, seed: int = 1) -> Iterator[bytes]:
    """Give the records of a job in the order of their time: its start, then `nodes` frames per step.

    Args:
        steps: how many.
        step_seconds: seconds a step takes, with 1 % of noise.
        seed: the same one gives the same bytes.
    """
    dice = np.random.default_rng(seed)
    yield encode(_start(job, nodes))
    for step in range(steps):
        time = START + (step + 1) * step_seconds
        own = step_seconds * (0.9 + 0.01 * dice.standard_normal((nodes, RANKS_A_NODE)))
        slowest = own.max() + 0.02 * step_seconds
        for node in range(nodes):
            yield encode(_frame(job, node, step, time, own[node], slowest, dice))


def _start(job: str, nodes: int) -> Event:
    placement = [
        {"rank": rank, "node": f"n{rank // RANKS_A_NODE:03d}", "gpu": f"GPU-{rank:05d}"}
        for rank in range(nodes * RANKS_A_NODE)
    ]
    data = {"world_size": nodes * RANKS_A_NODE, "fingerprint": "bench", "placement": placement}
    return Event(job=job, attempt=1, node="launcher", boot="b", seq=0, time=START, event="attempt.started", data=data)


def _frame(
    job: str, node: int, step: int, time: float, own: np.ndarray, slowest: float, dice: np.random.Generator
) -> StepFrame:
    loader = 0.02 + 0.002 * dice.standard_normal(RANKS_A_NODE)
    values: dict[str, list[Reading]] = {
        "step_seconds": [round(float(slowest), 4)] * RANKS_A_NODE,
        "compute_seconds": [round(float(one), 4) for one in own],
        "loader_seconds": [round(float(one), 4) for one in loader],
        "wait_seconds": [round(float(slowest - one - two), 4) for one, two in zip(own, loader, strict=True)],
    }
    leading: dict[str, Reading] = {
        "loss": round(2.3 + 0.01 * float(dice.standard_normal()), 4),
        "grad_norm": 0.3,
        "tokens": 1048576.0,
    }
    return StepFrame(
        job=job,
        attempt=1,
        node=f"n{node:03d}",
        boot="b",
        seq=step + 1,
        time=time + 0.001 * node,
        step=step,
        ranks=list(range(node * RANKS_A_NODE, (node + 1) * RANKS_A_NODE)),
        values=values,
        job_values=leading if node == 0 else {},
    )
