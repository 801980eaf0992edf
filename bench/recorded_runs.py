"""Turn six recorded training runs into telemetry: python bench/recorded_runs.py --data DIR --out DIR.

DIR holds `nanogpt-speedrun/steps.parquet` (MIT) and `mlperf-training-v5.1/step_times.parquet` (Apache-2.0); nothing of
them is copied into the repository. Each run becomes one file of job-level log lines as a collector would send them:
`attempt.started`, then a frame per logged line with `step_seconds` and, where it was logged, `loss`. Evaluations are
announced as phases. The same data gives the same bytes.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from schemas.codec import encode
from schemas.telemetry import Event, Inbound, Reading, StepFrame

SPEEDRUN_START = 1_740_960_000.0
"""Unix seconds given to the runs whose log has no date."""


class Recording(Struct, frozen=True, kw_only=True):
    """One run and how its log is to be read.

    Attributes:
        name: of the file and of the job.
        kind: what makes it worth having.
        world_size: number of GPUs.
        fields: column -> value that select it.
        samples_per_step: where the log counts samples instead of steps; else 1.
        every: steps from one line to the next; the step time is then their mean.
    """

    name: str
    kind: str
    world_size: int
    fields: dict[str, str | int]
    samples_per_step: int = 1
    every: int = 1


class Line(Struct, frozen=True):
    """One line of a log: a step that ended at `time`, or an evaluation where there is no step."""

    step: int | None
    time: float
    seconds: float
    loss: Reading


SPEEDRUNS = (
    Recording(name="speedrun-spikes", kind="loss at every step, with spikes", world_size=8, fields={"run": 0}),
    Recording(name="speedrun-stalls", kind="flat, stalls at shard changes", world_size=8, fields={"run": 1031}),
    Recording(
        name="speedrun-batch", kind="alternating steps, batch grows on schedule", world_size=8, fields={"run": 393}
    ),
)
RESULTS = (
    Recording(
        name="results-5120-gpus",
        kind="5,120 GPUs, 405 billion parameters",
        world_size=5120,
        fields={"system": "hsg_ngpu5120_ngc25.09_nemo", "bench": "llama31_405b", "file": "result_0.txt"},
    ),
    Recording(
        name="results-long-stall",
        kind="128 GPUs, one stall of a hundred steps",
        world_size=128,
        fields={"system": "hpf_n16", "bench": "llama31_8b", "file": "result_0.txt"},
        samples_per_step=64,
    ),
    Recording(
        name="results-means",
        kind="8 GPUs, one line for 32 steps",
        world_size=8,
        fields={"system": "1xXE9680Lx8B200-SXM-180GB", "bench": "llama31_8b", "file": "result_0.txt"},
        every=32,
    ),
)


def speedrun_lines(data: Path, recording: Recording) -> list[Line]:
    """Read a run whose log is a clock in milliseconds; what precedes a restart of that clock is left out."""
    rows = _rows(data / "nanogpt-speedrun" / "steps.parquet", recording)
    clock = [row["train_time_ms"] for row in rows]
    begin = max((index for index in range(1, len(clock)) if clock[index] < clock[index - 1]), default=0)
    return [
        Line(row["step"], SPEEDRUN_START + now / 1000, (now - before) / 1000, row["train_loss"])
        for row, now, before in zip(rows[begin + 1 :], clock[begin + 1 :], clock[begin:], strict=False)
    ]


def result_lines(data: Path, recording: Recording) -> list[Line]:
    """Read a run whose log has times and step lengths; a line without a loss is an evaluation."""
    rows = _rows(data / "mlperf-training-v5.1" / "step_times.parquet", recording)
    return [
        Line(
            None if row["loss"] is None else int(row["step"]) // recording.samples_per_step,
            row["time_ms"] / 1000,
            row["sec"],
            row["loss"],
        )
        for row in rows
    ]


def telemetry(recording: Recording, lines: list[Line]) -> Iterator[Inbound]:
    """Give the records of a run, numbered by source."""
    first = lines[0]
    begin = first.time - first.seconds * recording.every
    started = {"world_size": recording.world_size, "fingerprint": recording.name, "config": {"kind": recording.kind}}
    yield _event(recording, "launcher", 0, begin, "attempt.started", started)
    seq, evaluates_since, last = 0, None, begin
    for line in lines:
        if line.step is None:
            evaluates_since = last if evaluates_since is None else evaluates_since
            continue
        if evaluates_since is not None:
            until = max(line.time - line.seconds * recording.every, evaluates_since)
            yield _event(recording, "collector", seq, evaluates_since, "phase.begin", {"phase": "eval"})
            yield _event(recording, "collector", seq + 1, until, "phase.end", {"phase": "eval"})
            seq, evaluates_since = seq + 2, None
        yield _frame(recording, seq, line)
        seq, last = seq + 1, line.time


Row = dict[str, Any]  # Any: a row of a table whose columns differ in type


def _rows(path: Path, recording: Recording) -> list[Row]:
    table = pq.read_table(path)
    for column, value in recording.fields.items():
        table = table.filter(pc.equal(table[column], value))
    rows: list[Row] = table.to_pylist()
    if not rows:
        raise SystemExit(f"{path}: no rows with {recording.fields}")
    return rows


def _frame(recording: Recording, seq: int, line: Line) -> StepFrame:
    readings: dict[str, Reading] = {"step_seconds": _short(line.seconds)}
    if line.loss is not None:
        readings["loss"] = _short(line.loss)
    return StepFrame(
        job=recording.name,
        attempt=1,
        node="collector",
        seq=seq,
        time=round(line.time, 3),
        step=line.step or 0,
        job_values=readings,
        every=recording.every,
        mean=recording.every > 1,
    )


def _event(recording: Recording, node: str, seq: int, time: float, event: str, data: dict[str, object]) -> Event:
    return Event(job=recording.name, attempt=1, node=node, seq=seq, time=round(time, 3), event=event, data=data)


def _short(value: float) -> float:
    """Keep the digits that single precision has."""
    return float(f"{value:.7g}")


def write(out: Path, recording: Recording, lines: list[Line]) -> int:
    """Write a run; give the number of records."""
    records = list(telemetry(recording, lines))
    (out / f"{recording.name}.jsonl").write_bytes(b"".join(encode(record) + b"\n" for record in records))
    return len(records)


def main(arguments: list[str] | None = None) -> None:
    """Write all six and print what was written."""
    parser = argparse.ArgumentParser(description="Turn recorded training runs into telemetry.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the recorded runs")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    runs = [(run, speedrun_lines(options.data, run)) for run in SPEEDRUNS]
    runs += [(run, result_lines(options.data, run)) for run in RESULTS]
    for recording, lines in runs:
        print(f"{recording.name}.jsonl: {write(options.out, recording, lines)} records; {recording.kind}")


if __name__ == "__main__":
    main()
