"""Work that grows from step to step, as a batch that is ramped up: longer steps that do more are no slowdown."""

from itertools import pairwise

from streams.stages.detect.by_right import ByRight
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.watched import RECONFIGURES

STEPS = 10
"""So many values in a row that never turn back are a ramp."""
MOVED = 0.01
"""Relative move over them from which it is one."""
CHANGES = 2
"""A single change among them is a step, not a ramp."""
LENGTH = "sequence_length"
"""Longer samples cost more for each token: not even the rate of tokens can be held against what it was."""
RATES = ("tokens_per_second", "samples_per_second", "mfu", "tflops")


def follow(run: ByRight, closed: ClosedStep) -> bool:
    """Take a step; tell whether a ramp has just come to its end, so that something else is normal from here on."""
    was = run.ramping
    for name in RECONFIGURES:
        value = closed.job.get(name)
        if value is not None:
            run.work[name] = [*run.work.get(name, [])[1 - STEPS :], value]
    run.ramping = [name for name in RECONFIGURES if _ramps(run.work.get(name, []))]
    return bool(was) and not run.ramping


def hides(run: ByRight, name: str) -> bool:
    """Tell whether a signal says nothing of the pace while a ramp goes on: seconds do not, rates do.

    While samples get longer, no rate does either.
    """
    if not run.ramping:
        return False
    return name.endswith("_seconds") or (LENGTH in run.ramping and name in RATES)


def _ramps(values: list[float]) -> bool:
    if len(values) < STEPS or abs(values[-1] - values[0]) <= MOVED * abs(values[0]):
        return False
    changes = [later - earlier for earlier, later in pairwise(values) if later != earlier]
    return len(changes) >= CHANGES and (min(changes) > 0 or max(changes) < 0)
