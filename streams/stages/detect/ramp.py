"""Work that grows from step to step, as a batch that is ramped up: longer steps that do more are no slowdown."""

from itertools import pairwise

from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.memory import JobSeries
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


def follow(series: JobSeries, closed: ClosedStep) -> bool:
    """Take a step; tell whether a ramp has just come to its end, so that something else is normal from here on."""
    was = series.ramping
    for name in RECONFIGURES:
        value = closed.job.get(name)
        if value is not None:
            series.work[name] = [*series.work.get(name, [])[1 - STEPS :], value]
    series.ramping = [name for name in RECONFIGURES if _ramps(series.work.get(name, []))]
    return bool(was) and not series.ramping


def hides(series: JobSeries, name: str) -> bool:
    """Tell whether a signal says nothing of the pace while a ramp goes on: seconds do not, rates do.

    While samples get longer, no rate does either.
    """
    if not series.ramping:
        return False
    return name.endswith("_seconds") or (LENGTH in series.ramping and name in RATES)


def _ramps(values: list[float]) -> bool:
    if len(values) < STEPS or abs(values[-1] - values[0]) <= MOVED * abs(values[0]):
        return False
    changes = [later - earlier for earlier, later in pairwise(values) if later != earlier]
    return len(changes) >= CHANGES and (min(changes) > 0 or max(changes) < 0)
