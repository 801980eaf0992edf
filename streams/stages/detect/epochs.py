"""A loss that falls where the data begin anew: they were seen before, and some of it was learned by heart."""

import math

from detectors.base import Alarm
from streams.stages.detect.by_right import ByRight
from streams.stages.detect.derive import ClosedStep

REACH = 5
"""Steps after the beginning of an epoch in which the loss may fall: a logged loss may be a mean over some."""
DEEPEST = 0.25
"""Share of the loss before, under which nothing is explained by having seen the data."""
NEVER = -1


def note(run: ByRight, closed: ClosedStep) -> None:
    """Remember at which step the present epoch began; a fraction of an epoch is no new one."""
    told = closed.job.get("epoch")
    if told is None:
        return
    epoch = float(math.floor(told))
    if run.epoch is None:
        run.epoch = (epoch, NEVER)
    elif epoch != run.epoch[0]:
        run.epoch = (epoch, closed.step if epoch > run.epoch[0] else NEVER)


def explains(run: ByRight, name: str, alarm: Alarm, value: float) -> bool:
    """Tell whether a loss has fallen because an epoch has just begun.

    Args:
        name: of the signal.
        alarm: raised for it at this step.
        value: of the signal at this step.
    """
    if name != "loss" or alarm.over or alarm.direction >= 0 or run.epoch is None or run.epoch[1] == NEVER:
        return False
    began = run.epoch[1]
    return began <= alarm.onset and alarm.index - began <= REACH and value >= DEEPEST * alarm.before > 0
