"""What this node, or a recorded file, gives: the names of the signals and events that come from there."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from glob import glob
from pathlib import Path

from msgspec import Struct, field

from schemas.codec import BadRecord, decode
from schemas.telemetry import Event, SampleFrame, StepFrame
from streams.agents.finding import Happening, LoggedStep, Sample, Source
from streams.agents.kernel_log import DEVICE
from streams.agents.logs.reader import LogReader
from streams.agents.rank_file import find, parse
from streams.clock import unix_seconds

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

_LOG = ("nccl.timeout", "nccl.error", "nccl.port_error", "rank.exit", "rank.error", "worker.killed", "log.line")
_MOST_LOGS = 16


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


def of_node(
    sources: Mapping[str, Source], directory: Path | None, kernel: Path = DEVICE, logs: Sequence[str] = ()
) -> Probe:
    """Look twice at every source, for rates need it, at what the hooks have written, and at the ends of logs."""
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
    for pattern in logs:
        _look_at_logs(pattern, probe)
    return probe


def _note(findings: Iterable[object], probe: Probe) -> None:
    for finding in findings:
        if isinstance(finding, Sample | LoggedStep):
            probe.signals.update(finding.values)
        elif isinstance(finding, Happening):
            probe.events.add(finding.event)


def _look_at_logs(pattern: str, probe: Probe) -> None:
    """Note what the ends of logs say; what a log would tell of a fault counts as given, though none has happened."""
    files = [file for file in glob(pattern, recursive=True) if os.path.isfile(file)]
    newest = sorted(files, key=os.path.getmtime)[-_MOST_LOGS:]
    if not newest:
        probe.troubles.append(f"log {pattern}: there is none")
        return
    probe.events.update(_LOG)
    for file in newest:
        reader = LogReader(UTC)
        try:
            with open(file, "rb") as stream:
                stream.seek(max(0, os.path.getsize(file) - _TAIL_BYTES))
                body = stream.read(_TAIL_BYTES)
        except OSError as fault:
            probe.troubles.append(f"log {file}: {fault.strerror}")
            continue
        _note([*reader.feed(body, unix_seconds()), *reader.finish(unix_seconds())], probe)


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
