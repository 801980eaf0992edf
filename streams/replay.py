"""Replay: a recorded file through the line, in arrival order, to one object. Nothing is kept, nothing is done."""

import gzip
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field

from schemas.codec import BadRecord, Plain, decode
from schemas.detection import Detection
from schemas.incident import Incident
from schemas.telemetry import Event, Inbound, Tick
from streams.contract import contract
from streams.line import Line, LineMemory
from streams.stages.stage import Sent

FAULTS_SHOWN = 100


class Outcome(Struct):
    """What a replay came to.

    Attributes:
        rejected: lines that could not be read, with their number from 1.
        said: everything the line said, in order.
        memories: of every job.
    """

    records: int = 0
    rejected: list[tuple[int, BadRecord]] = field(default_factory=list)
    said: list[Sent] = field(default_factory=list)
    memories: dict[str, LineMemory] = field(default_factory=dict)


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
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        outcome.records += 1
        try:
            record = decode(raw.strip())
        except BadRecord as fault:
            outcome.rejected.append((number, fault))
            continue
        _take(line, outcome, record)
    _flush(line, outcome, set(outcome.memories))
    return outcome


def _flush(line: Line, outcome: Outcome, keys: set[str]) -> None:
    """End every line; what they still tell each other is heard, and those that heard it end once more."""
    told: list[Event] = []
    for key in sorted(keys):
        said = line.flush(outcome.memories[key])
        outcome.said += said
        told += [sent.record for sent in said if sent.topic == "telemetry" and isinstance(sent.record, Event)]
    for event in told:
        _take(line, outcome, event)
    if told:
        _flush(line, outcome, {event.job for event in told})


def _take(line: Line, outcome: Outcome, record: Inbound) -> None:
    """Feed a record, and what the lines tell each other because of it, as the log would bring it back."""
    waiting: list[Inbound] = [record]
    while waiting:
        one = waiting.pop(0)
        for key in sorted(outcome.memories) if isinstance(one, Tick) else [one.job]:
            memory = outcome.memories.get(key)
            if memory is None:
                memory = outcome.memories[key] = line.blank(key)
            said = line.feed(memory, one)
            outcome.said += said
            waiting += [sent.record for sent in said if sent.topic == "telemetry" and isinstance(sent.record, Event)]


def summary(outcome: Outcome) -> dict[str, Plain]:
    """The object of the contract, and the first of the lines that could not be read."""
    records = [sent.record for sent in outcome.said if sent.topic in ("detections", "incidents")]
    whole = contract(
        outcome.records,
        len(outcome.rejected),
        outcome.memories.values(),
        [one for one in records if isinstance(one, Detection)],
        [one for one in records if isinstance(one, Incident)],
    )
    whole["faults"] = [
        {"line": number, "reason": fault.reason, "path": fault.path, "detail": fault.detail}
        for number, fault in outcome.rejected[:FAULTS_SHOWN]
    ]
    return whole
