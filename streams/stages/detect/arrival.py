"""Frames that only have to be put to their step: nine of ten are, in a job of many nodes, so this is the short way.

It does what the long way of `streams.stages.detect.stage` does with such frames, and leaves everything else to it.
"""

from collections.abc import Sequence
from itertools import islice

from schemas.telemetry import StepFrame
from schemas.topics import Record
from streams.stages.detect import align, progress, samples, silence
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.memory import Attempt
from streams.stages.detect.participants import enrol_frame
from streams.stages.detect.repeats import is_repeated
from streams.stages.detect.signs import watch as signs


def put_away(memory: DetectMemory, records: Sequence[Record], at: int, lateness: float) -> int:
    """Put frames to their steps for as long as nothing follows from it.

    Args:
        records: in the order in which they came.
        at: place of the first of them that has not been taken yet.
        lateness: seconds a record may come late.

    Returns:
        How many were taken; from the next one something may follow, and nothing was done with it.
    """
    attempt = memory.attempt
    oldest = align.oldest(attempt.alignment) if attempt is not None else None
    if attempt is None or oldest is None or attempt.voices.leap is not None:
        return 0
    due, taken = _next_look(memory, attempt, lateness), 0
    for record in islice(records, at, None):
        if not isinstance(record, StepFrame) or record.attempt != attempt.number:
            break
        clock = max(memory.clock, record.time)
        if clock >= due or not align.would_wait(attempt.alignment, oldest, record.step, clock, lateness):
            break
        taken += 1
        _put(memory, attempt, record, clock)
    return taken


def _next_look(memory: DetectMemory, attempt: Attempt, lateness: float) -> float:
    """The time at which something has to be looked at, whoever speaks; on the stream's clock."""
    return min(
        silence.due(attempt), progress.due(attempt), samples.due(memory.samples, lateness), signs.due(memory.signs)
    )


def _put(memory: DetectMemory, attempt: Attempt, frame: StepFrame, clock: float) -> None:
    memory.counters.records += 1
    if is_repeated(memory.seen, frame):
        memory.counters.repeated += 1
        return
    memory.cluster, memory.idle, memory.ticks, memory.clock = frame.cluster, 0.0, 0, clock
    silence.heard(attempt.voices, frame, clock)
    places = enrol_frame(attempt.participants, frame)
    progress.advanced(attempt, frame.step, clock)
    align.add(attempt.alignment, frame, places, clock)
