"""`trainmaster read-log`: a recorded log as telemetry, for a look at what is understood, and for `replay`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from schemas.codec import encode
from streams.agents.finding import Finding, Happening, LoggedStep, Sample
from streams.agents.logs.reader import LogReader
from streams.agents.stamp import Stamp
from streams.clock import local_zone
from streams.commands.output import fail, say

_CHUNK_BYTES = 1 << 20


def read_log(
    file: Annotated[Path, typer.Argument(help="The log.")],
    job: Annotated[str, typer.Option(help="Name of the job.")] = "job",
    attempt: Annotated[int, typer.Option(min=0, help="Its start number.")] = 1,
    node: Annotated[str, typer.Option(help="Who printed it.")] = "collector",
    start: Annotated[float, typer.Option(help="Unix seconds of its first line, where it prints no time.")] = 0.0,
) -> None:
    """Print the records that a log holds, one per line; what could not be read is told on the standard error."""
    reader, stamp = LogReader(local_zone(), start), Stamp(node, "default", start, 0)
    try:
        for finding in _timed(_findings(reader, file, start), start):
            typer.echo(encode(stamp.record(job, attempt, start, finding)).decode())
    except OSError as fault:
        fail(str(fault))
    told = ", ".join(f"{count} {name}" for name, count in reader.read.most_common())
    say(f"read: {told or 'nothing'}; {reader.passed_over} other lines")
    for name, count in reader.unread.items():
        say(f"{count} lines look like {name} and could not be read, the first: {reader.samples[name][0]}")


def _findings(reader: LogReader, file: Path, start: float) -> Iterator[Finding]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield from reader.feed(chunk, start)
    yield from reader.finish(start)


def _timed(findings: Iterator[Finding], start: float) -> Iterator[Finding]:
    """Let time pass as the steps say, for what has no time of its own."""
    now = start
    for finding in findings:
        assert isinstance(finding, Sample | Happening | LoggedStep)
        if isinstance(finding, LoggedStep):
            now += finding.every * (finding.values.get("step_seconds") or 0.0)
        now = now if finding.time is None else max(now, finding.time)
        yield finding if finding.time is not None else replace(finding, time=now)
