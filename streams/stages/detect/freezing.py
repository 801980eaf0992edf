"""Nothing is learned while anything is wrong."""

from streams.stages.detect import learned, series
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.memory import Attempt

_TEACH = ("silence", "trend", "exposure")
"""Detectors whose findings do not keep levels from being learned."""


def freeze(memory: DetectMemory, attempt: Attempt) -> None:
    """Keep the levels of the job and of its machines as they are while a finding is active, and let go after it."""
    frozen = any(detection.detector not in _TEACH for detection in attempt.active.values())
    series.freeze(attempt.series, frozen)
    learned.freeze(memory.samples, frozen)
