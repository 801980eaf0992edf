"""Recorded runs become telemetry: a real process, on small files of the same shape and on the real ones if present."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.codec import decode, encode
from schemas.telemetry import Event, Inbound, StepFrame

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("TRAINMASTER_SHARED", ROOT.parent / "shared"))
RUNS = (
    "speedrun-spikes",
    "speedrun-stalls",
    "speedrun-batch",
    "results-5120-gpus",
    "results-long-stall",
    "results-means",
)


def _write(data: Path, out: Path) -> dict[str, bytes]:
    script = ROOT / "bench" / "recorded_runs.py"
    done = subprocess.run(
        [sys.executable, str(script), "--data", str(data), "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return {path.stem: path.read_bytes() for path in sorted(out.glob("*.jsonl"))}


def _records(raw: bytes) -> list[Inbound]:
    return [decode(line) for line in raw.splitlines()]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small tables with the columns of the real ones: a clock that restarts, and logs with an evaluation."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "nanogpt-speedrun").mkdir()
    (folder / "mlperf-training-v5.1").mkdir()
    clock, losses = [0, 500, 1000, 40, 180, 325, 470], [None, 10.0, 9.0, 8.0, 7.0, 6.5, 6.0]
    runs = [
        {"run": run, "step": i, "train_time_ms": clock[i], "train_loss": losses[i]}
        for run in (0, 1031, 393)
        for i in range(7)
    ]
    pq.write_table(pa.Table.from_pylist(runs), folder / "nanogpt-speedrun" / "steps.parquet")
    shapes = (
        ("hsg_ngpu5120_ngc25.09_nemo", "llama31_405b", 1, 2.0, 2000),
        ("hpf_n16", "llama31_8b", 64, 0.5, 500),
        ("1xXE9680Lx8B200-SXM-180GB", "llama31_8b", 32, 0.5, 16_000),
    )
    lines: list[dict[str, str | float | None]] = []
    for system, bench, stride, seconds, gap in shapes:
        head = {"org": "o", "system": system, "bench": bench, "file": "result_0.txt"}
        logged: list[tuple[int, int, float | None]] = [(i * stride, i * gap, 8.0 - i) for i in (1, 2, 3)]
        logged += [(900_000, 3 * gap + 10, None), (4 * stride, 4 * gap + 9000, 4.0)]
        lines += [head | {"step": float(at), "time_ms": ms, "sec": seconds, "loss": loss} for at, ms, loss in logged]
    pq.write_table(pa.Table.from_pylist(lines), folder / "mlperf-training-v5.1" / "step_times.parquet")
    return folder


@pytest.fixture(scope="module")
def written(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The six files made of those tables."""
    return _write(data, tmp_path_factory.mktemp("out"))


def test_there_are_six_runs_and_each_survives_the_wire(written: dict[str, bytes]) -> None:
    """Each file starts with the start of the attempt, and each line is the bytes of its record."""
    assert set(written) == set(RUNS)
    for raw in written.values():
        records = _records(raw)
        assert isinstance(records[0], Event)
        assert records[0].event == "attempt.started"
        assert b"".join(encode(record) + b"\n" for record in records) == raw


def test_the_same_data_gives_the_same_bytes(data: Path, written: dict[str, bytes], tmp_path: Path) -> None:
    """A second run writes the same files."""
    assert _write(data, tmp_path) == written


def test_what_precedes_a_restarted_clock_is_left_out(written: dict[str, bytes]) -> None:
    """Steps start after the restart, with their own lengths, times that add up and the loss where it was logged."""
    frames = [record for record in _records(written["speedrun-spikes"]) if isinstance(record, StepFrame)]
    assert [frame.step for frame in frames] == [4, 5, 6]
    assert [frame.job_values["step_seconds"] for frame in frames] == [0.14, 0.145, 0.145]
    assert [frame.job_values["loss"] for frame in frames] == [7.0, 6.5, 6.0]
    assert [round(frame.time - frames[0].time, 3) for frame in frames] == [0.0, 0.145, 0.29]
    assert all(frame.ranks == [] and frame.values == {} for frame in frames)


@pytest.mark.parametrize(
    ("name", "steps", "every"),
    [
        pytest.param("results-5120-gpus", [1, 2, 3, 4], 1, id="a line a step"),
        pytest.param("results-long-stall", [1, 2, 3, 4], 1, id="counted in samples"),
        pytest.param("results-means", [32, 64, 96, 128], 32, id="means over 32 steps"),
    ],
)
def test_an_evaluation_is_a_phase_and_no_step(
    name: str, steps: list[int], every: int, written: dict[str, bytes]
) -> None:
    """A line without a loss becomes begin and end of a phase between the steps around it."""
    records = _records(written[name])
    frames = [record for record in records if isinstance(record, StepFrame)]
    assert [frame.step for frame in frames] == steps
    assert {(frame.every, frame.mean) for frame in frames} == {(every, every > 1)}
    begin, end = (record for record in records if isinstance(record, Event) and record.event.startswith("phase."))
    assert (begin.event, end.event) == ("phase.begin", "phase.end")
    assert frames[2].time == begin.time < end.time < frames[3].time


def test_the_real_runs(tmp_path: Path) -> None:
    """The recorded runs give files with the known facts: spikes in the loss, one stall of a hundred steps."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"no recorded runs at {SHARED}: set TRAINMASTER_SHARED")
    runs = {name: _records(raw) for name, raw in _write(SHARED / "data", tmp_path).items()}
    steps = {name: [r for r in records if isinstance(r, StepFrame)] for name, records in runs.items()}
    losses = {frame.step: frame.job_values["loss"] for frame in steps["speedrun-spikes"]}
    assert losses[919] == pytest.approx(4.964, abs=0.01)
    assert losses[918] == pytest.approx(3.7, abs=0.2)
    seconds = [frame.job_values["step_seconds"] or 0.0 for frame in steps["results-long-stall"]]
    assert max(seconds) > 100 * sorted(seconds)[len(seconds) // 2]
    assert [len(steps[name]) for name in ("results-5120-gpus", "results-means")] == [270, 360]
