"""Work before any step is told: a job whose trainer reports no steps trains as well, and its GPUs show it.

Where they show neither work nor waiting, nobody knows whether the job stands: GPUs of a small kind train at the power
at which those of a large kind wait.
"""

from collections.abc import Mapping

from msgspec import Struct

from schemas.telemetry import Reading

IDLE_UTIL = 0.2
WORKING_WATTS = 400.0
"""What no GPU draws that only waits in a collective, the largest ones included."""
WORKING_TIMES, WAITING_TIMES = 3.5, 2.5
"""What a GPU that works draws at least, and one that waits in a collective at most: times what it draws at rest."""
WORKING_UNITS = 0.3
"""Share of the units in use; a collective that waits takes up a sixth."""
WEIGHT = 1 / 32
MOST_OF_THE_TIME = 0.5


class Unheard(Struct):
    """What the GPUs of a job do that has told of no step.

    Attributes:
        idle_watts: the least that its GPUs drew while they were idle; None before they were.
        work: share of the last moments in which they worked; `waiting`: in which they idled or waited.
    """

    idle_watts: float | None = None
    work: float = 0.0
    waiting: float = 0.0


def take(known: Unheard, values: Mapping[str, Reading]) -> None:
    """Take one moment of a job's GPUs.

    Args:
        known: before.
        values: of the moment, means over the GPUs.
    """
    util, watts = values.get("gpu_util"), values.get("power_watts")
    if util is None:
        return
    if util < IDLE_UTIL and watts is not None:
        known.idle_watts = watts if known.idle_watts is None else min(watts, known.idle_watts)
    done = _is_work(known, values)
    known.work += WEIGHT * ((done is True) - known.work)
    known.waiting += WEIGHT * ((done is False) - known.waiting)


def works(known: Unheard) -> bool:
    """Tell whether the GPUs have worked most of the time.

    >>> known = Unheard()
    >>> for _ in range(30):
    ...     take(known, {"gpu_util": 1.0, "power_watts": 620.0, "busy_power_watts": 620.0})
    >>> works(known)
    True
    """
    return known.work > MOST_OF_THE_TIME


def waits(known: Unheard) -> bool:
    """Tell whether they have idled or waited most of the time; what neither works nor waits is not known."""
    return known.waiting > MOST_OF_THE_TIME


def _is_work(known: Unheard, values: Mapping[str, Reading]) -> bool | None:
    """Tell whether they work, None where that cannot be told."""
    units, watts = values.get("busy_sm_active"), values.get("busy_power_watts")
    if units is not None:
        return units >= WORKING_UNITS
    if watts is None:
        return False if (values.get("gpu_util") or 0.0) < IDLE_UTIL else None
    if watts >= WORKING_WATTS:
        return True
    times = watts / known.idle_watts if known.idle_watts else None
    if times is None or WAITING_TIMES < times < WORKING_TIMES:
        return None
    return times >= WORKING_TIMES
