"""Which detectors fit a series, by what it means; a series of unknown meaning is judged by itself alone."""

from detectors.base import AnyDetector
from detectors.catalogue import DETECTORS
from detectors.change_point import ChangePoint
from detectors.counter_rate import CounterRate
from detectors.level_shift import LevelShift
from detectors.slow_step import SlowStep
from detectors.spike import Spike
from schemas.signals import Signal

STALL_SECONDS = 0.005
"""A step that takes so much longer is no stall yet, however short the steps are."""
DRIFTING = ("loss", "valid_loss", "grad_norm", "update_norm")
"""Signals that drift by nature: they have no level to shift, and show a fault as an excursion."""


def fitting(signal: Signal | None) -> tuple[str, ...]:
    """Name the detectors worth running on one series, when nobody says which.

    >>> fitting(None)
    ('level_shift', 'nonfinite')
    """
    if signal is not None and signal.kind == "counter":
        return ("counter_rate",)
    if signal is None:
        return ("level_shift", "nonfinite")
    if signal.name in DRIFTING:
        return ("spike", "nonfinite")
    if is_step_time(signal):
        return ("slow_step", "level_shift", "periodic", "nonfinite")
    return ("level_shift", "nonfinite")


def fitted(name: str, signal: Signal | None) -> AnyDetector:
    """Build a detector for series of one meaning, with the limits of that signal.

    A level of which nothing is known is sought by the likelihood of the series itself, `change_point`; and a step time
    does not drift but follows a plan, so its spikes are slow steps.

    Raises:
        KeyError: there is no detector of that name.
    """
    if name == "level_shift":
        return ChangePoint() if signal is None else LevelShift(worth=signal.worth, floor=signal.floor)
    if signal is not None and is_step_time(signal) and name in ("spike", "slow_step"):
        return SlowStep(floor=STALL_SECONDS)
    if name == "spike" and signal is not None:
        return Spike(worth=signal.worth, floor=signal.floor)
    if name == "counter_rate" and signal is not None:
        return CounterRate(floor=signal.floor)
    return DETECTORS[name]()


def is_step_time(signal: Signal) -> bool:
    """Tell whether a signal is a time that recurs with every step."""
    return signal.unit == "s" and signal.layer == "throughput"
