"""Work before any step is told: a job whose trainer reports no steps trains as well, and its GPUs show it."""

from collections.abc import Mapping

from msgspec import Struct

from schemas.telemetry import Reading

IDLE_UTIL = 0.2
WORKING_WATTS = 400.0
"""What no GPU draws that only waits in a collective, the largest ones included."""
WORKING_TIMES = 3.5
"""So many times what it draws at rest; one that waits in a collective draws up to two and a half times as much."""
WORKING_UNITS = 0.3
"""Share of the units in use; a collective that waits takes up a sixth."""
WEIGHT = 1 / 32
MOST_OF_THE_TIME = 0.5


class Unheard(Struct):
    """What the GPUs of a job do that has told of no step.

    Attributes:
        idle_watts: the least that its GPUs drew while they were idle; None before they were.
        share: of the last moments in which they worked.
    """

    idle_watts: float | None = None
    share: float = 0.0


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
    known.share += WEIGHT * (_is_work(known, values) - known.share)


def works(known: Unheard) -> bool:
    """Tell whether the GPUs have worked most of the time.

    >>> known = Unheard()
    >>> for _ in range(30):
    ...     take(known, {"gpu_util": 1.0, "power_watts": 620.0, "busy_power_watts": 620.0})
    >>> works(known)
    True
    """
    return known.share > MOST_OF_THE_TIME


def _is_work(known: Unheard, values: Mapping[str, Reading]) -> bool:
    units, watts = values.get("busy_sm_active"), values.get("busy_power_watts")
    if units is not None:
        return units >= WORKING_UNITS
    if watts is None:
        return False
    at_rest = known.idle_watts
    return watts >= WORKING_WATTS or (at_rest is not None and watts >= WORKING_TIMES * at_rest)
