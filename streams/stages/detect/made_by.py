"""What made a finding: the version of the detector, and the parameters with which it looked at that signal."""

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import structs

from detectors.base import AnyDetector
from detectors.catalogue import DETECTORS
from detectors.exposure import Exposure
from schemas.detection import Detection
from schemas.signals import signal_named
from streams.stages.detect import creeping, mixture, silence, spinning, watched
from streams.stages.detect.signs.catalogue import CATALOGUE

_SIGNS = {sign.name: sign for sign in CATALOGUE}


def signed(detection: Detection, versions: Mapping[str, str], borne: float | None = None) -> Detection:
    """Note on a finding what made it.

    Args:
        detection: as it was raised, revised or ended.
        versions: detector or sign -> version.
        borne: false alarms a week on a job's pace, where that is set: the smallest change that is told follows from it.
    """
    of_job = detection.subject == "job"
    parameters = parameters_of(detection.detector, detection.signal, of_job, detection.part)
    if borne is not None and detection.detector == "level_shift" and of_job and detection.signal in watched.PACE:
        parameters = {**parameters, "alarms_per_job_week": borne}
        del parameters["worth"]
    return structs.replace(detection, version=versions.get(detection.detector, ""), parameters=parameters)


@lru_cache(maxsize=4096)
def parameters_of(detector: str, signal: str, of_job: bool, part: str = "") -> dict[str, float]:
    """Give the parameters with which a detector or sign looks at a signal.

    >>> parameters_of("sustained", "loader_share", of_job=True)
    {'limit': 0.15, 'rows': 50.0, 'calm': 5.0}
    """
    if detector in _SIGNS:
        return _numbers(vars(sys.modules[type(_SIGNS[detector]).__module__]))
    if detector not in DETECTORS:
        return {}
    numbers = _numbers(vars(_built(detector, signal, of_job)))
    return {**numbers, **_early(detector, part)}


def _early(detector: str, part: str) -> dict[str, float]:
    """What is asked instead before an early word."""
    if detector == "stalled" and part == "spinning":
        told = {"short": spinning.SHORT, "long": spinning.LONG}
        return {f"{name}_{field}": value for name, one in told.items() for field, value in structs.asdict(one).items()}
    if detector == "silence" and part in (silence.HELD, silence.HELD_ALL):
        return {"early_seconds": silence.EARLY_SECONDS, "early_factor": silence.EARLY_FACTOR}
    return {}


def _built(detector: str, signal: str, of_job: bool) -> AnyDetector:
    build = (_OF_JOB if of_job else _OF_ENTITIES).get(detector)
    return build(signal) if build is not None else DETECTORS[detector]()


def _trend(signal: str) -> AnyDetector:
    return watched.trend(signal) if signal in watched.RUNS_OUT else DETECTORS["trend"]()


def _exposure(signal: str) -> AnyDetector:
    return Exposure(recipe=0.0, relative=0.0) if signal == mixture.BAD else DETECTORS["exposure"]()


_OF_JOB: dict[str, Callable[[str], AnyDetector]] = {
    "level_shift": lambda signal: watched.level_shift((signal,)),
    "creep": lambda _: creeping.creep(),
    "spike": lambda signal: watched.spike((signal,)),
    "sustained": lambda signal: watched.sustained(signal) if signal in watched.LIMITS else watched.flag(signal),
    "counter_rate": watched.counter_rate,
    "exposure": _exposure,
}
_OF_ENTITIES: dict[str, Callable[[str], AnyDetector]] = {
    "level_shift": lambda signal: watched.entity_level_shift(signal, signal_named(signal).kind == "counter"),
    "sustained": watched.flag,
    "counter_rate": watched.counter_rate,
    "trend": _trend,
}


def _numbers(named: Mapping[str, Any]) -> dict[str, float]:  # Any: whatever a detector keeps
    """The public numbers among what a detector or a sign keeps; those of the parts it is made of go before its own."""
    found: dict[str, float] = {}
    for name, value in sorted(named.items(), key=lambda one: not hasattr(one[1], "__dict__")):
        if name.startswith("_"):
            continue
        if isinstance(value, bool | type) or callable(value):
            continue
        if hasattr(value, "__dict__") and type(value).__module__.startswith("detectors."):
            found |= _numbers(vars(value))
        elif isinstance(value, int | float) or (isinstance(value, np.ndarray) and value.size == 1):
            number = float(np.asarray(value).reshape(-1)[0])
            if np.isfinite(number):
                found[name.lower()] = number
    return found
