"""What still comes of an attempt when the next one has begun."""

from collections.abc import Iterator

from schemas.events import ANSWERS
from schemas.telemetry import Event, Telemetry
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.stage import Sent


def left_over(memory: DetectMemory, record: Telemetry) -> Iterator[Sent]:
    """Count it as late; but what people and runners say about the attempt they say now, and are heard."""
    if isinstance(record, Event) and record.event in ANSWERS:
        yield Sent("events", memory.key, record)
    else:
        memory.counters.late += 1
