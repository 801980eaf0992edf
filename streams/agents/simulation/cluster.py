"""Synchronous training: a step lasts as long as its slowest rank, everybody else waits, the slow rank waits least."""

import numpy as np
from msgspec import Struct

from detectors.base import Floats
from schemas.telemetry import Reading
from streams.agents.simulation.conditions import Conditions, healthy
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.job import Job
from streams.agents.simulation.noise import Noise
from streams.agents.simulation.outbox import Outbox
from streams.agents.simulation.sampler import Load

REPORT_SECONDS = 0.02
"""From the end of a step to the moment an agent stamps its frame."""
_PARTS = ("compute_seconds", "loader_seconds", "h2d_seconds", "host_prep_seconds", "optimizer_seconds")


class StepTimes(Struct, frozen=True):
    """How a step went.

    Attributes:
        seconds: length of the step, the same for all ranks.
        own: own work by part, in the order of the signals in a frame, shape (parts, ranks).
        wait: seconds in collectives, shape (ranks,).
    """

    seconds: float
    own: Floats
    wait: Floats


class Cluster:
    """One attempt of a job under its faults and decoys.

    Args:
        influences: applied in this order.
    """

    def __init__(self, job: Job, influences: tuple[Influence, ...], noise: Noise) -> None:
        self._job = job
        self._influences = influences
        self._noise = noise

    def conditions(self, step: int, *, elapsed: float, cached: float) -> Conditions:
        """Say what a step meets."""
        now = healthy(self._job, self._noise, step=step, elapsed=elapsed, cached=cached)
        for influence in self._influences:
            influence.apply(now)
        return now

    @staticmethod
    def run(now: Conditions) -> StepTimes:
        """Run a step: all ranks leave it together."""
        own = np.stack([now.compute, now.loader, now.input_copy, now.host_prep, now.optimizer])
        busy = own.sum(axis=0)
        seconds = float(busy.max()) + now.communication
        return StepTimes(seconds, own, seconds - busy)

    def load(self, now: Conditions, times: StepTimes) -> Load:
        """Say how busy a step keeps the machines: a rank that waits for data is idle, one in a collective is not."""
        compute, loader, _, host_prep, optimizer = times.own
        running = 0.975 * (1.0 - (loader + host_prep) / times.seconds)
        computing = 0.9 * (compute + optimizer) / times.seconds
        healthy_seconds = self._job.parts.seconds
        bus = self._job.parts.communication / now.communication
        return Load(running, computing, healthy_seconds / times.seconds, min(bus, 1.0))

    def report(self, outbox: Outbox, now: Conditions, times: StepTimes, end: float) -> None:
        """Add the frames of all nodes; the first rank's carries the values of the job."""
        table = np.vstack([np.full(self._job.world_size, times.seconds), times.own, times.wait])
        rows = np.round(table, 6).tolist()
        names = ("step_seconds", *_PARTS, "wait_seconds")
        for place, node in enumerate(self._job.nodes):
            first = place * self._job.gpus_per_node
            values = {
                name: _of(row, first, self._job.gpus_per_node, now.stuck) for name, row in zip(names, rows, strict=True)
            }
            job_values = {name: _rounded(reading) for name, reading in now.readings.items()} if place == 0 else {}
            outbox.steps(self._job, node, end + REPORT_SECONDS, now.step, values, job_values)


def _of(row: list[float], first: int, count: int, stuck: tuple[int, ...]) -> list[Reading]:
    """Cut out one node's readings; a rank that never finished the step has none."""
    mine: list[Reading] = list(row[first : first + count])
    for rank in stuck:
        if first <= rank < first + count:
            mine[rank - first] = None
    return mine


def _rounded(reading: Reading) -> Reading:
    return None if reading is None else float(f"{reading:.7g}")
