"""How well the GPUs are used: added to the values of a step where the launcher says what the model takes."""

import math

import numpy as np

from detectors.utilisation import effective_share, model_flops_utilisation
from schemas.telemetry import LARGEST, Event
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.memory import Attempt, Model

_COMPUTE = ("compute_seconds", "optimizer_seconds")


def model_of(event: Event) -> Model:
    """Read what a start says of the model: `config.flops_per_token`, and `config.peak_flops` of one GPU."""
    config = event.data.get("config")
    given = config if isinstance(config, dict) else {}
    return Model(flops_per_token=_number(given.get("flops_per_token")), peak_flops=_number(given.get("peak_flops")))


def _number(value: object) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST
    return float(value) if usable and isinstance(value, int | float) else 0.0


def add(attempt: Attempt, closed: ClosedStep) -> None:
    """Add `mfu`, where the trainer does not tell its own, and `effective_share`.

    They follow from what the detectors have seen already, so they are added for people, after everybody has looked.
    """
    seconds = closed.interval
    if not math.isfinite(seconds) or seconds <= 0:
        return
    model, gpus = attempt.model, attempt.world_size or len(attempt.participants.ranks)
    tokens, step_seconds = closed.job.get("tokens", 0.0), closed.job.get("step_seconds", 0.0)
    if model.flops_per_token and model.peak_flops and gpus and tokens > 0 and step_seconds > 0:
        share = model_flops_utilisation(tokens, step_seconds, model.flops_per_token, gpus, model.peak_flops)
        if share <= LARGEST:
            closed.job.setdefault("mfu", share)
    rows = [closed.ranks[name] for name in _COMPUTE if name in closed.ranks]
    if "compute_seconds" in closed.ranks:
        work = rows[0] + sum(np.nan_to_num(row) for row in rows[1:])
        effective = effective_share(work, seconds, repeated=closed.step <= attempt.trained_before)
        if math.isfinite(effective):
            closed.job["effective_share"] = effective
