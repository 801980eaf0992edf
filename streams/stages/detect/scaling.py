"""Steps that are skipped because the loss scale was too high: a search at the start, and now and then one later."""

from schemas.telemetry import is_finite
from streams.stages.detect.by_right import ByRight
from streams.stages.detect.derive import ClosedStep

SKIPPED = 0.5
SEARCHED = 33
"""Steps that a search may take: from the highest scale in use down to one, halved at each."""
LOWEST = 1.0
"""A scale down here finds nothing any more."""


def note(run: ByRight, closed: ClosedStep) -> None:
    """Note whether the step was skipped, count those that were not, and remember the scale."""
    scale, before = closed.job.get("loss_scale"), run.scale
    skipped = closed.job.get("skipped")
    run.falls = scale is not None and scale > LOWEST and (before is None or scale < before)
    run.skipped = skipped > SKIPPED if skipped is not None else run.falls and _overflowed(closed)
    run.trained += not run.skipped
    run.scale = scale if scale is not None else before


def searches(run: ByRight, rows: int) -> bool:
    """Tell whether every step of the attempt has been skipped so far, and the scale still has a way to go.

    Args:
        rows: steps closed in the attempt.
    """
    return run.trained == 0 and rows <= SEARCHED and (run.falls or run.scale is None)


def did_no_harm(run: ByRight, closed: ClosedStep) -> bool:
    """Tell whether a gradient that is not finite changed nothing: the step was skipped, and the loss was there."""
    loss = closed.readings.get("loss")
    return run.skipped and loss is not None and is_finite(loss)


def _overflowed(closed: ClosedStep) -> bool:
    norm = closed.readings.get("grad_norm")
    return norm is not None and not is_finite(norm)
