"""What this node, or a recorded file, gives: the names of the signals and events that come from there."""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from schemas.codec import BadRecord, decode
from schemas.telemetry import Event, SampleFrame, StepFrame
from streams.agents.finding import Happening, LoggedStep, Sample, Source
from streams.agents.kernel_log import DEVICE
from streams.agents.rank_file import find, parse

_BETWEEN_LOOKS = 1.1
_TAIL_BYTES = 1 << 16
_OWN = ("history.lost", "source.gap", "agent.dropped")
"""Events that the pipeline and its agents tell of themselves."""
_KERNEL = ("xid", "gpu.off_bus", "oom.kill")
_HOOK = (
    "attempt.started",
    "attempt.ended",
    "checkpoint.begin",
    "checkpoint.end",
    "checkpoint.failed",
    "config.changed",
)


class Probe(Struct):
    """What was found, and what stood in the way."""

    signals: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=lambda: set(_OWN))
    troubles: list[str] = field(default_factory=list)


def of_lines(lines: Iterable[bytes]) -> Probe:
    """Look at recorded telemetry; what cannot be read gives nothing."""
    probe = Probe()
    for line in lines:
        try:
            record = decode(line)
        except BadRecord:
            continue
        if isinstance(record, StepFrame):
            probe.signals.update(record.values, record.job_values)
        elif isinstance(record, SampleFrame):
            probe.signals.update(record.values)
        elif isinstance(record, Event):
            probe.events.add(record.event)
    return probe


def of_node(sources: Mapping[str, Source], directory: Path | None, kernel: Path = DEVICE) -> Probe:
    """Look twice at every source, for rates need it, and at what the trainers' hooks have written."""
    probe = Probe()
    troubles: dict[str, str] = {}
    for look in range(2):
        time.sleep(_BETWEEN_LOOKS if look else 0.0)
        for name, source in sources.items():
            try:
                _note(source(), probe)
            except OSError as fault:
                troubles[name] = str(fault)
    probe.troubles += [f"{name}: {why}" for name, why in troubles.items()]
    if os.access(kernel, os.R_OK):
        probe.events.update(_KERNEL)
    else:
        probe.troubles.append(f"kernel log: {kernel} cannot be read")
    _look_at_hooks(directory, probe)
    return probe


def _note(findings: Iterable[object], probe: Probe) -> None:
    for finding in findings:
        if isinstance(finding, Sample | LoggedStep):
            probe.signals.update(finding.values)
        elif isinstance(finding, Happening):
            probe.events.add(finding.event)


def _look_at_hooks(directory: Path | None, probe: Probe) -> None:
    files = find(directory) if directory is not None else []
    if not files:
        probe.troubles.append(f"trainer: no rank has written to {directory or 'a folder (--dir)'}")
        return
    probe.events.update(_HOOK)
    for file in files:
        for raw in file.path.read_bytes()[-_TAIL_BYTES:].splitlines():
            line = parse(raw)
            if line is not None:
                probe.signals.update(line.v, line.j)
