"""A closed step becomes numbers: arrays over the ranks, one value per signal of the job, and what is derived."""

import statistics
from collections.abc import Callable

import numpy as np
from msgspec import Struct, field

from detectors.base import Floats
from schemas.signals import Over, signal_named
from schemas.telemetry import LARGEST, Reading, is_finite
from streams.stages.detect.open_steps import OpenStep, StepPart
from streams.stages.detect.parts import rows_of

OWN_PARTS = ("compute_seconds", "loader_seconds", "h2d_seconds", "host_prep_seconds", "optimizer_seconds")
_NOT_A_LEVEL = ("sample_id",)
FEWEST_CLOCKS, APART_SECONDS = 3, 60.0
_RULES: dict[Over, Callable[[Floats], float]] = {
    "mean": np.mean,
    "median": np.median,
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
}


class ClosedStep(Struct):
    """The numbers of one step.

    Attributes:
        time: Unix seconds at which the step ended: the latest of its frames.
        interval: seconds since the step before ended, per step; NaN for the first.
        ranks: signal -> seconds or counts per rank, shape (ranks,) in the order of the participants, NaN = rank silent.
        own: seconds of own work per rank, shape (ranks,); NaN where it cannot be told.
        job: signal -> finite value of the job as a whole.
        readings: signal -> reading as the trainer gave it, absent and non-finite ones included.
        tellers: signal -> node whose frame gave that reading.
        nodes: whose frames the step was made of.
        apart: node -> seconds by which it says that the step ended later than the middle node, where that is a minute.
    """

    step: int
    time: float
    interval: float
    ranks: dict[str, Floats] = field(default_factory=dict)
    own: Floats | None = None
    job: dict[str, float] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    tellers: dict[str, str] = field(default_factory=dict)
    nodes: frozenset[str] = frozenset()
    apart: dict[str, float] = {}


def derive(step: OpenStep, width: int, previous_time: float, steps: int) -> ClosedStep:
    """Assemble the frames of a step and derive loader share, tokens per second and the like.

    Args:
        width: ranks that take part in the attempt.
        previous_time: Unix seconds at which the last closed step ended; 0 when there is none.
        steps: training steps since that one, at least 1.
    """
    time = max(part.time for part in step.parts)
    interval = (time - previous_time) / steps if previous_time and time > previous_time else np.nan
    nodes = frozenset(part.node for part in step.parts)
    closed = ClosedStep(step=step.step, time=time, interval=interval, nodes=nodes)
    closed.apart = _apart(step.parts)
    closed.ranks = rows_of(step.parts, width)
    for part in step.parts:
        _tell(closed, part)
    _own_work(closed)
    for name, row in closed.ranks.items():
        if name not in closed.job and name not in _NOT_A_LEVEL and not np.isnan(row).all():
            closed.job[name] = by_rule(signal_named(name).over, row)
    _rates(closed)
    return closed


def by_rule(rule: Over, row: Floats) -> float:
    """One value of the job out of those of its ranks or entities, at least one of which is finite."""
    silent = np.isnan(row)
    return float(_RULES[rule](row[~silent] if silent.any() else row))


def _tell(closed: ClosedStep, part: StepPart) -> None:
    """Take what a frame said of the job as a whole."""
    for name, reading in part.job_values.items():
        closed.readings.setdefault(name, reading)
        closed.tellers.setdefault(name, part.node)
        if reading is not None and is_finite(reading):
            closed.job.setdefault(name, float(reading))


def _apart(parts: list[StepPart]) -> dict[str, float]:
    """Say whose clock is far from those of most others; of two nobody knows which is wrong."""
    times = [part.time for part in parts]
    if len(times) < FEWEST_CLOCKS or max(times) - min(times) < APART_SECONDS:
        return {}
    middle = statistics.median_low(times)
    return {part.node: part.time - middle for part in parts if abs(part.time - middle) >= APART_SECONDS}


def _own_work(closed: ClosedStep) -> None:
    """A rank's own work is its step without the waiting; else the sum of the parts it reports."""
    step, wait = closed.ranks.get("step_seconds"), closed.ranks.get("wait_seconds")
    if step is not None and wait is not None:
        closed.own = step - wait
        return
    parts = [closed.ranks[name] for name in OWN_PARTS if name in closed.ranks]
    if "compute_seconds" in closed.ranks:
        closed.own = closed.ranks["compute_seconds"] + sum(
            np.nan_to_num(part) for part in parts if part is not closed.ranks["compute_seconds"]
        )


def _rates(closed: ClosedStep) -> None:
    job, ranks = closed.job, closed.ranks
    seconds = job.get("step_seconds", 0.0)
    if "loader_seconds" in ranks and "step_seconds" in ranks:
        with np.errstate(all="ignore"):
            share = ranks["loader_seconds"] / ranks["step_seconds"]
        share = np.where(np.abs(share) <= LARGEST, share, np.nan)
        if np.isfinite(share).any():
            job["loader_share"], job["loader_share_median"] = by_rule("mean", share), by_rule("median", share)
    elif "loader_seconds" in job and seconds > 0 and is_finite(job["loader_seconds"] / seconds):
        job.setdefault("loader_share", job["loader_seconds"] / seconds)
    wait = ranks.get("wait_seconds")
    if wait is not None and np.isfinite(wait).any():
        job["wait_least_seconds"] = by_rule("min", wait)
    if "tokens" in job and seconds > 0 and is_finite(job["tokens"] / seconds):
        job.setdefault("tokens_per_second", job["tokens"] / seconds)
    if np.isfinite(closed.interval):
        job["interval_seconds"] = closed.interval
