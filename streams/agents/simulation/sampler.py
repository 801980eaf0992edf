"""What the agents read every few seconds: GPUs, hosts and the shared mount, under the load of the moment."""

import numpy as np
from msgspec import Struct

from detectors.base import Floats
from schemas.telemetry import Entity
from streams.agents.simulation.conditions import SM_CLOCK_MHZ, Conditions
from streams.agents.simulation.job import Job
from streams.agents.simulation.outbox import Outbox

GPU_MEMORY_BYTES = 68.7e9
_AFTER: dict[Entity, float] = {"gpu": 0.0, "node": 0.05, "mount": 0.07, "job": 0.09}


class Load(Struct, frozen=True):
    """How busy the machines are at a moment.

    Attributes:
        running: share of time some kernel ran, collectives that wait for somebody included; shape (ranks,).
        computing: share of time in kernels that get something done; shape (ranks,).
        reading: how fast the loaders read, relative to healthy.
        bus: bus bandwidth of the collectives, relative to healthy.
    """

    running: Floats
    computing: Floats
    reading: float
    bus: float


def load_between_steps(ranks: int) -> Load:
    """Give the load while all ranks wait for a save, an evaluation's loader or the start."""
    return Load(np.full(ranks, 0.01), np.zeros(ranks), 0.02, 0.0)


def load_of_lone_save(ranks: int) -> Load:
    """Give the load while the first rank saves, its GPU idle, and the others spin until it is back."""
    load = load_of_hang(ranks)
    load.running[0], load.computing[0] = 0.01, 0.0
    return load


def load_of_evaluation(ranks: int) -> Load:
    """Give the load while all ranks evaluate, which is less work than training."""
    return Load(np.full(ranks, 0.96), np.full(ranks, 0.5), 0.3, 0.3)


def load_of_hang(ranks: int) -> Load:
    """Give the load while all ranks spin in a collective: the GPUs look busy and get nothing done."""
    return Load(np.full(ranks, 1.0), np.full(ranks, 0.03), 0.0, 0.0)


class Sampler:
    """Takes the samples of one attempt and keeps its counters.

    Args:
        job: the attempt.
        start: Unix seconds of the first sample.
    """

    def __init__(self, job: Job, start: float) -> None:
        self._job = job
        self._next = start
        self._counters: dict[str, Floats] = {}

    def pass_time(self, outbox: Outbox, now: Conditions, load: Load, begin: float, end: float) -> None:
        """Let time go by from `begin` to `end` under one load, and take the samples that fall into it."""
        self._jump(now)
        while self._next < end:
            moment = max(self._next, begin)
            self._count(now, moment - begin)
            begin = moment
            self._sample(outbox, now, load, self._next)
            self._next += self._job.sample_seconds
        self._count(now, end - begin)

    def _jump(self, now: Conditions) -> None:
        for name, growth in now.jumps.items():
            self._counters[name] = self._counters.get(name, 0.0) + growth
        now.jumps.clear()

    def _count(self, now: Conditions, seconds: float) -> None:
        for values in (now.gpu, now.host, now.storage):
            for name, value in values.items():
                if name.endswith("_total"):
                    self._counters[name] = self._counters.get(name, 0.0) + value * seconds

    def _sample(self, outbox: Outbox, now: Conditions, load: Load, time: float) -> None:
        job = self._job
        gpu, host, storage = self._gpu(now, load), self._host(now), self._storage(now, load)
        for place, node in enumerate(job.nodes):
            ranks = job.ranks_on(node)
            mine, here = slice(ranks[0], ranks[-1] + 1), slice(place, place + 1)
            gpus = [job.gpu_of(rank) for rank in ranks]
            outbox.samples(job, node, time + _AFTER["gpu"], "gpu", gpus, ranks, _cut(gpu, mine))
            outbox.samples(job, node, time + _AFTER["node"], "node", [node], [], _cut(host, here))
            outbox.samples(job, node, time + _AFTER["mount"], "mount", [job.mount], [], _cut(storage, here))
        bus = {"nccl_bus_bytes_per_second": np.array([380e9 * load.bus * now.noise.factor("bus", 0.01)])}
        outbox.samples(job, job.nodes[0], time + _AFTER["job"], "job", [job.name], [], bus)

    def _gpu(self, now: Conditions, load: Load) -> dict[str, Floats]:
        ranks = self._job.world_size
        noise = now.noise.factors("gpu", ranks, 0.003)
        values = self._read(now.gpu)
        clock = values["sm_clock_mhz"] / SM_CLOCK_MHZ
        at_work = 0.25 * load.running + 0.75 * load.computing
        power = (95.0 + 560.0 * at_work * clock) * noise
        values["gpu_util"] = np.minimum(load.running * now.noise.factors("gpu_util", ranks, 0.003), 1.0)
        values["sm_active"] = load.computing * noise
        values["power_watts"] = np.minimum(power, values["power_limit_watts"])
        values["temperature_c"] = (values["temperature_c"] + 24.0 * at_work) * noise
        values["hbm_used_bytes"] = np.full(ranks, GPU_MEMORY_BYTES)
        idle = load.running < 0.05
        values["pcie_generation"] = np.where(idle, 1.0, values["pcie_generation"])
        return values

    def _host(self, now: Conditions) -> dict[str, Floats]:
        values = self._read(now.host)
        noise = now.noise.factors("host", len(self._job.nodes), 0.02)
        for name in ("cpu_util", "allowed_cpu_util"):
            values[name] = np.minimum(values[name] * noise, 1.0)
        for name in ("load", "iowait"):
            values[name] = values[name] * noise
        values["memory_available_bytes"] = values["memory_available_bytes"] * (1.0 + 0.1 * (noise - 1.0))
        return values

    def _storage(self, now: Conditions, load: Load) -> dict[str, Floats]:
        values = self._read(now.storage)
        noise = now.noise.factors("storage", len(self._job.nodes), 0.015)
        remote = 1.0 - 0.98 * now.cached
        values["storage_read_bytes_per_second"] = (
            values["storage_read_bytes_per_second"] * load.reading * remote * noise
        )
        values["storage_latency_seconds"] = values["storage_latency_seconds"] * noise
        return values

    def _read(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Give gauges as they are, counters as whole numbers since the attempt began."""
        return {
            name: np.floor(self._counters.get(name, np.zeros(len(value)))) if name.endswith("_total") else value
            for name, value in values.items()
        }


def _cut(values: dict[str, Floats], part: slice) -> dict[str, Floats]:
    return {name: array[part] for name, array in values.items()}
