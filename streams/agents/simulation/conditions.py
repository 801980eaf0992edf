"""What one step meets: the healthy values with their noise, which faults and decoys then change in place."""

from typing import Any

import numpy as np
from msgspec import Struct, field

from detectors.base import Floats
from schemas.telemetry import Reading
from streams.agents.simulation.job import Job
from streams.agents.simulation.noise import Noise

SM_CLOCK_MHZ = 1755.0


class Happening(Struct, frozen=True, kw_only=True):
    """An event before it has a number and a time."""

    node: str
    event: str
    subject: str = ""
    data: dict[str, Any] = field(default_factory=dict)  # Any: each event has its own fields
    text: str = ""


class Conditions(Struct, kw_only=True):
    """One step of one job, before it is run.

    Attributes:
        elapsed: seconds since the first step of the attempt began.
        cached: share of the loader's reads that the node's own disk answers, 0..1.
        compute: seconds of a rank's own work, shape (ranks,); likewise loader, input_copy, host_prep, optimizer.
        communication: seconds of collectives when nobody is late.
        checkpoint_seconds: how long a save takes if one falls on this step.
        readings: values of the job as a whole.
        gpu: signal -> value per rank, shape (ranks,); of a counter (`..._total`) the growth per second.
        host: signal -> value per node, shape (nodes,), likewise; `storage` is the mount as each node sees it.
        jumps: counter -> what it grows by at once, same shapes.
        stuck: ranks that never finish this step; all others then wait for them.
        stuck_seconds: how long that is watched.
        silent: nodes whose agent sends nothing.
        opening: events at the start of the step; `closing`: at its end.
    """

    job: Job
    noise: Noise
    step: int
    elapsed: float
    cached: float
    compute: Floats
    loader: Floats
    input_copy: Floats
    host_prep: Floats
    optimizer: Floats
    communication: float
    checkpoint_seconds: float
    readings: dict[str, Reading]
    gpu: dict[str, Floats]
    host: dict[str, Floats]
    storage: dict[str, Floats]
    jumps: dict[str, Floats] = field(default_factory=dict)
    stuck: tuple[int, ...] = ()
    stuck_seconds: float = 0.0
    silent: set[str] = field(default_factory=set)
    opening: list[Happening] = field(default_factory=list)
    closing: list[Happening] = field(default_factory=list)

    def ranks(self, nodes: tuple[str, ...]) -> list[int]:
        """Give the ranks on some nodes; of all nodes if none is named."""
        return [rank for node in nodes or self.job.nodes for rank in self.job.ranks_on(node)]

    def places(self, nodes: tuple[str, ...]) -> list[int]:
        """Give the positions of some nodes in `host` and `storage`; of all nodes if none is named."""
        return [self.job.nodes.index(node) for node in nodes or self.job.nodes]


def healthy(job: Job, noise: Noise, *, step: int, elapsed: float, cached: float) -> Conditions:
    """Make the conditions of a step in which nothing is wrong."""
    ranks, parts = job.world_size, job.parts
    shared, loss, grad_norm, save = noise.factors("job", 4, np.array([job.spread, 0.0006, 0.025, 0.01]))
    spreads = np.repeat([job.rank_spread, 0.04, 0.01, 0.01], ranks)
    own, loader, input_copy, host_prep = noise.factors("ranks", 4 * ranks, spreads).reshape(4, ranks)
    own *= shared
    return Conditions(
        job=job,
        noise=noise,
        step=step,
        elapsed=elapsed,
        cached=cached,
        compute=parts.compute * _stage_weights(job) * own,
        loader=parts.loader * loader,
        input_copy=parts.input_copy * input_copy,
        host_prep=parts.host_prep * host_prep,
        optimizer=parts.optimizer * own,
        communication=parts.communication * float(shared),
        checkpoint_seconds=job.checkpoint_seconds * float(save),
        readings=_readings(job, noise, step, float(loss), float(grad_norm)),
        gpu=_gpu(ranks),
        host=_host(len(job.nodes)),
        storage=_storage(len(job.nodes), cached),
    )


def _stage_weights(job: Job) -> Floats:
    weights = np.array(job.stage_weights or (1.0,) * job.pipeline)
    return np.repeat(weights, job.world_size // job.pipeline)


def _readings(job: Job, noise: Noise, step: int, loss_factor: float, grad_norm_factor: float) -> dict[str, Reading]:
    steps, losses = zip(*job.loss, strict=True)
    readings: dict[str, Reading] = {
        "loss": float(np.interp(step, steps, losses)) * loss_factor,
        "grad_norm": job.grad_norm * grad_norm_factor,
        "learning_rate": job.learning_rate,
        "tokens": float(job.tokens),
    }
    for source, share in job.mixture:
        readings[f"source_share.{source}"] = share * noise.factor(f"source_share.{source}", 0.01)
    if job.mixture:
        readings["bad_sample_share"] = 0.0004 * noise.factor("bad_sample_share", 0.05)
    return readings


def _gpu(ranks: int) -> dict[str, Floats]:
    """Give the state of healthy GPUs; what depends on load is added when a sample is taken."""
    values = {
        "sm_clock_mhz": SM_CLOCK_MHZ,
        "temperature_c": 38.0,
        "power_limit_watts": 700.0,
        "throttle_hw_thermal": 0.0,
        "throttle_hw_power_brake": 0.0,
        "pcie_generation": 5.0,
        "pcie_width": 16.0,
        "pcie_replays_total": 0.0,
        "nvlink_lanes_up": 18.0,
        "nvlink_errors_total": 0.0,
        "ecc_dbe_volatile_total": 0.0,
        "xid_last": 0.0,
    }
    return _everywhere(values, ranks)


def _host(nodes: int) -> dict[str, Floats]:
    values = {
        "cpu_util": 0.22,
        "allowed_cpu_util": 0.34,
        "allowed_cpus": 96.0,
        "cpus": 128.0,
        "load": 40.0,
        "iowait": 0.004,
        "memory_available_bytes": 870e9,
        "shm_used_share": 0.012,
        "oom_kills_total": 0.0,
        "nic_errors_total": 0.0,
        "retransmits_total": 0.05,
    }
    return _everywhere(values, nodes)


def _storage(nodes: int, cached: float) -> dict[str, Floats]:
    values = {
        "storage_read_bytes_per_second": 2.4e9,
        "storage_latency_seconds": 0.004,
        "storage_retries_total": 0.01,
        "storage_errors_total": 0.0,
        "cache_hit_ratio": 0.98 * cached,
    }
    return _everywhere(values, nodes)


def _everywhere(values: dict[str, float], count: int) -> dict[str, Floats]:
    """Give each signal the same value for every rank or node."""
    rows = np.repeat([[value] for value in values.values()], count, axis=1)
    return dict(zip(values, rows, strict=True))
