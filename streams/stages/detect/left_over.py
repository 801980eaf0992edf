"""What still comes of an attempt when the next one has begun, or of a node as it no longer is."""

from collections.abc import Iterator

from schemas.events import ANSWERS
from schemas.telemetry import Event, Telemetry
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.node_words import is_bygone
from streams.stages.stage import Sent


def is_left_over(memory: DetectMemory, record: Telemetry) -> bool:
    """Tell whether a record is about what is past."""
    attempt = memory.attempt
    if attempt is None:
        return False
    return 0 < record.attempt < attempt.number or is_bygone(attempt, record, memory.clock)


def left_over(memory: DetectMemory, record: Telemetry) -> Iterator[Sent]:
    """Count it as late; but what people and runners say about the attempt they say now, and are heard."""
    if isinstance(record, Event) and record.event in ANSWERS:
        yield Sent("events", memory.key, record)
    else:
        memory.counters.late += 1
