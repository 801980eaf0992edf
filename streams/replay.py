"""Replay: a recorded file through the line, in arrival order, to one object. Nothing is kept, nothing is done."""

import gzip
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field

from schemas.codec import BadRecord, Plain, decode, to_wire
from schemas.detection import Detection
from schemas.incident import Incident
from streams.line import Line, LineMemory
from streams.stages.detect.memory import DetectMemory
from streams.stages.stage import Sent


class Outcome(Struct):
    """What a replay came to.

    Attributes:
        said: everything the line said, in order.
        rejected: lines that could not be read, with their number from 1.
    """

    records: int = 0
    rejected: list[tuple[int, BadRecord]] = field(default_factory=list)
    repeated: int = 0
    late: int = 0
    said: list[Sent] = field(default_factory=list)


def lines_of(name: str) -> Iterator[bytes]:
    """Read the lines of a file, compressed or not; `-` is the standard input."""
    if name == "-":
        yield from sys.stdin.buffer
    elif Path(name).suffix == ".gz":
        with gzip.open(name, "rb") as packed:
            yield from packed
    else:
        with Path(name).open("rb") as plain:
            yield from plain


def replay(line: Line, lines: Iterable[bytes]) -> Outcome:
    """Run lines of telemetry through the line; every job has its own memory."""
    outcome = Outcome()
    memories: dict[str, LineMemory] = {}
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        outcome.records += 1
        try:
            record = decode(raw.strip())
        except BadRecord as fault:
            outcome.rejected.append((number, fault))
            continue
        keys = list(memories) if not hasattr(record, "job") else [record.job]
        for key in keys:
            memory = memories.setdefault(key, line.blank(key))
            outcome.said += line.feed(memory, record)
    for memory in memories.values():
        outcome.said += line.flush(memory)
        for stage in memory.stages:
            if isinstance(stage, DetectMemory):
                outcome.repeated += stage.counters.repeated
                outcome.late += stage.counters.late
    return outcome


def summary(outcome: Outcome) -> dict[str, Plain]:
    """The object of the contract: counts, the last revision of every detection and of every incident."""
    detections: dict[str, Detection] = {}
    incidents: dict[str, Incident] = {}
    for sent in outcome.said:
        if isinstance(sent.record, Detection):
            detections[sent.record.id] = sent.record
        elif isinstance(sent.record, Incident) and sent.topic == "incidents":
            incidents[sent.record.id] = sent.record
    return {
        "records": outcome.records,
        "rejected": len(outcome.rejected),
        "repeated": outcome.repeated,
        "late": outcome.late,
        "faults": [
            {"line": number, "reason": fault.reason, "path": fault.path, "detail": fault.detail}
            for number, fault in outcome.rejected[:100]
        ],
        "detections": [to_wire(one) for one in detections.values()],
        "incidents": [to_wire(one) for one in incidents.values()],
    }
