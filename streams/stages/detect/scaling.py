"""The search of a loss scale at the start: steps are skipped and the scale is lowered until the gradients fit."""

from schemas.telemetry import is_finite
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.memory import JobSeries

SKIPPED = 0.5
SEARCHED = 33
"""Steps that a search may take: from the highest scale in use down to one, halved at each."""
LOWEST = 1.0
"""A scale down here finds nothing any more."""


def note(series: JobSeries, closed: ClosedStep) -> None:
    """Count the steps that have changed the model."""
    series.trained += closed.job.get("skipped", 0.0) <= SKIPPED


def searches(series: JobSeries, closed: ClosedStep) -> bool:
    """Tell whether every step of the attempt has been skipped so far, and the scale still has a way to go."""
    scale, before = closed.job.get("loss_scale"), series.scale
    series.scale = scale if scale is not None else before
    falls = scale is None or (scale > LOWEST and (before is None or scale <= before))
    return series.trained == 0 and series.rows <= SEARCHED and falls


def overflowed(closed: ClosedStep) -> bool:
    """Tell whether a gradient that is not finite did no harm: the step was skipped for it, and the loss was there."""
    loss = closed.readings.get("loss")
    return closed.job.get("skipped", 0.0) > SKIPPED and loss is not None and is_finite(loss)
