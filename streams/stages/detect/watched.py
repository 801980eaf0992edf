"""Which detector watches which signal."""

from functools import lru_cache

import numpy as np

from detectors.counter_rate import CounterRate
from detectors.level_shift import LevelShift
from detectors.spike import Spike
from detectors.sustained import Sustained
from schemas.signals import Signal, signal_named

SPIKY = ("loss", "grad_norm", "update_norm")
"""Signals that drift by nature and show a fault as an excursion."""
FINITE = ("loss", "grad_norm")
"""Signals whose NaN, infinity or absence is a finding."""
LIMITS = {"loader_share": (0.15, 50), "skipped": (0.5, 10)}
"""Signal -> (limit, steps in a row) of `sustained`; the loader's figures are the brief's."""
COUNTED = ("duplicate_samples_total", "skipped_samples_total")
"""Counters that the trainer's frames bring."""
STEADY_COUNTERS = ("retransmits_total", "storage_retries_total")
"""Counters that count in health too, at a rate: their rate has a level."""
FLAG_ROWS = 2
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
    return CounterRate(floor=signal_named(name).floor)


def is_bad(signal: Signal, direction: int) -> bool:
    """Tell whether a move in a direction hurts."""
    return signal.bad == "both" or (signal.bad == "up" and direction > 0) or (signal.bad == "down" and direction < 0)


@lru_cache(maxsize=256)
def level_shift(names: tuple[str, ...]) -> LevelShift:
    """The detector for columns of these signals, each with its own smallest change worth an alarm."""
    signals = [signal_named(name) for name in names]
    return LevelShift(
        worth=np.array([signal.worth for signal in signals]), floor=np.array([signal.floor for signal in signals])
    )


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
