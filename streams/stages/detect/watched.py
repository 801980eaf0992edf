"""Which detector watches which signal."""

from functools import lru_cache

import numpy as np
from msgspec import Struct

from detectors.alarm_rate import STEP_TIMES, rows_between
from detectors.counter_rate import CounterRate
from detectors.level_shift import LevelShift
from detectors.spike import Spike
from detectors.sustained import Sustained
from detectors.trend import Trend
from schemas.signals import Signal, signal_named

SPIKY = ("loss", "grad_norm", "update_norm")
"""Signals that drift by nature and show a fault as an excursion."""
FINITE = ("loss", "grad_norm")
"""Signals whose NaN, infinity or absence is a finding."""
PACE = ("step_seconds", "tokens_per_second")
"""Signals of how fast the job goes, whose false alarms can be set."""
LIMITS = {"loader_share": (0.15, 50), "skipped": (0.5, 10)}
"""Signal -> (limit, steps in a row) of `sustained`; the loader's figures are the brief's."""
COUNTED = ("duplicate_samples_total", "skipped_samples_total")
"""Counters that the trainer's frames bring."""
STEADY_COUNTERS = ("retransmits_total", "storage_retries_total")
"""Counters that count in health too, at a rate: their rate has a level."""

BUSY = {
    "power_watts": "busy_power_watts",
    "temperature_c": "busy_temperature_c",
    "sm_active": "busy_sm_active",
}
"""Readings of GPUs, and the names under which the mean over those that are busy is kept: pauses are left out."""


class RunsOut(Struct, frozen=True):
    """What has an end: the value at it, seconds of a span over which readings are averaged, and how far to look ahead.

    Attributes:
        spans: from which on it is told, to the end.
    """

    end: float
    span_seconds: float
    spans: int


RUNS_OUT = {
    "memory_available_bytes": RunsOut(end=0.0, span_seconds=60.0, spans=240),
    "hbm_used_share": RunsOut(end=1.0, span_seconds=60.0, spans=240),
    "shm_used_share": RunsOut(end=1.0, span_seconds=60.0, spans=240),
    "space_free_bytes": RunsOut(end=0.0, span_seconds=300.0, spans=144),
}
"""Memory is told four hours ahead, and space, which a person has to make, twelve."""
FLAG_ROWS = 2
COUNTED_ROWS = 15
"""Moments with a reading after which a burst of errors is told from what a counter usually does."""
RECONFIGURES = ("tokens", "batch_size", "sequence_length")
"""Schedules whose step to another constant value changes what is normal."""
_UNLEVEL = ("interval_seconds", "checkpoint_seconds", "valid_loss", "loss", "grad_norm", "update_norm", "params_norm")


def has_level(name: str) -> bool:
    """Tell whether a level shift of a signal is worth looking for."""
    signal = signal_named(name)
    return signal.kind == "gauge" and signal.bad != "none" and name not in _UNLEVEL


def counts_errors(signal: Signal, name: str) -> bool:
    """Tell whether a signal counts what should not happen at all."""
    return signal.kind == "counter" and signal.bad == "up" and name not in STEADY_COUNTERS


@lru_cache(maxsize=256)
def counter_rate(name: str) -> CounterRate:
    """The detector for one counter of errors, over any number of reporters."""
    return CounterRate(floor=signal_named(name).floor, warmup=COUNTED_ROWS)


@lru_cache(maxsize=256)
def flag(name: str) -> Sustained:
    """The detector for a flag that should stay down, or up: a throttle reason, or a port's link."""
    return Sustained(limit=0.5, rows=FLAG_ROWS, above=signal_named(name).bad != "down")


@lru_cache(maxsize=16)
def trend(name: str) -> Trend:
    """The detector for what runs out; a row is a span of its own, and forty of them make a slope."""
    runs_out = RUNS_OUT[name]
    return Trend(limit=runs_out.end, horizon=runs_out.spans, block=2, blocks=20, worth=0.05)


def is_bad(signal: Signal, direction: int) -> bool:
    """Tell whether a move in a direction hurts."""
    return signal.bad == "both" or (signal.bad == "up" and direction > 0) or (signal.bad == "down" and direction < 0)


def pace_worth(alarms_per_job_week: float | None, step_seconds: float | None) -> float | None:
    """Give the smallest change of a job's pace that is worth an alarm, where so many false ones a week are borne.

    Args:
        alarms_per_job_week: None = not set: the table of signals says it.
        step_seconds: what a step of the job takes; None = not known yet.

    >>> pace_worth(1.0, 1.0), pace_worth(1.0, 10.0), pace_worth(None, 1.0)
    (0.042, 0.019, None)
    """
    if alarms_per_job_week is None or step_seconds is None or not step_seconds > 0:
        return None
    return round(STEP_TIMES.worth(rows_between(alarms_per_job_week, step_seconds)), 3)


@lru_cache(maxsize=256)
def level_shift(names: tuple[str, ...], pace: float | None = None) -> LevelShift:
    """The detector for columns of these signals, each with its own smallest change worth an alarm.

    Args:
        names: of the signals.
        pace: smallest relative change of the job's pace that is worth one, instead of what the table says.
    """
    signals = [signal_named(name) for name in names]
    worth = [
        signal.worth if pace is None or name not in PACE else pace for name, signal in zip(names, signals, strict=True)
    ]
    return LevelShift(worth=np.array(worth), floor=np.array([signal.floor for signal in signals]))


@lru_cache(maxsize=256)
def entity_level_shift(name: str, per_second: bool) -> LevelShift:
    """The detector for one signal over many entities; a counter's floor is taken over ten seconds."""
    signal = signal_named(name)
    floor = signal.floor / 10.0 if per_second else signal.floor
    return LevelShift(worth=signal.worth, floor=floor, warmup=8, recent=3, threshold=3.5)


@lru_cache(maxsize=64)
def spike(names: tuple[str, ...]) -> Spike:
    """The detector for columns of drifting signals."""
    signals = [signal_named(name) for name in names]
    return Spike(
        worth=np.array([signal.worth for signal in signals]), floor=np.array([signal.floor for signal in signals])
    )


@lru_cache(maxsize=64)
def sustained(name: str) -> Sustained:
    """The detector for a signal with a limit."""
    limit, rows = LIMITS[name]
    return Sustained(limit=limit, rows=rows)
