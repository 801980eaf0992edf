"""A frame that only has to be put to its step: nine of ten are, in a job of many nodes, so this is the short way.

It does what the long way of `streams.stages.detect.stage` does with such a frame, and leaves everything else to it.
"""

from schemas.telemetry import StepFrame
from streams.stages.detect import align, progress, samples, silence
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.memory import Attempt
from streams.stages.detect.participants import enrol_frame
from streams.stages.detect.repeats import is_repeated
from streams.stages.detect.signs import watch as signs


def is_put_away(memory: DetectMemory, frame: StepFrame, lateness: float) -> bool:
    """Put a frame to its step where nothing follows from it; False where something may: then nothing was done.

    Args:
        lateness: seconds a record may come late.
    """
    attempt = memory.attempt
    if attempt is None or frame.attempt != attempt.number:
        return False
    clock = max(memory.clock, frame.time)
    if _something_is_due(memory, attempt, clock, lateness) or not align.would_wait(
        attempt.alignment, frame, clock, lateness
    ):
        return False
    memory.counters.records += 1
    if is_repeated(memory.seen, frame):
        memory.counters.repeated += 1
        return True
    memory.cluster, memory.idle, memory.clock = frame.cluster, 0.0, clock
    silence.heard(attempt.voices, frame.node, clock)
    enrol_frame(attempt.participants, frame)
    progress.advanced(attempt, frame.step, clock)
    align.add(attempt.alignment, frame, clock)
    return True


def _something_is_due(memory: DetectMemory, attempt: Attempt, clock: float, lateness: float) -> bool:
    return (
        silence.is_due(attempt, clock)
        or progress.is_due(attempt, clock)
        or samples.is_due(memory.samples, clock, lateness)
        or signs.is_due(memory.signs, clock)
    )
