"""Step times of real training runs, and who was to blame in three real traces; both live outside the repository."""

import csv
import os
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from pyarrow import parquet

from detectors.base import Alarm, Floats, watch
from detectors.level_shift import LevelShift
from detectors.slow_rank import SlowRank

SHARED = Path(os.environ.get("TRAINMASTER_SHARED", Path(__file__).parents[3] / "shared"))
RUNS, TRACES = SHARED / "data/nanogpt-speedrun", SHARED / "data/straggler-analysis/data"
FIRST, WITHIN, MERGED = 20, 60, 30
"""Steps left out at the start; steps in which a shift counts as found; alarms nearer than this are one."""


class Tally(NamedTuple):
    """What came of one group: rows seen, shifts there were, delays of those found, alarms with no reason."""

    rows: int
    shifts: int
    delays: list[int]
    false: int


def _table(name: str) -> list[dict[str, str]]:
    with (RUNS / name).open() as lines:
        return list(csv.DictReader(lines))


def _step_times(runs: list[int]) -> Floats:
    """Give milliseconds per step, shape (steps, runs)."""
    columns = parquet.read_table(RUNS / "steps.parquet", columns=["run", "step", "train_time_ms"])
    run, step, clock = (columns[name].to_numpy() for name in columns.column_names)
    rows = np.full((int(step.max()) + 1, len(runs)), np.nan)
    for place, one in enumerate(runs):
        rows[step[run == one], place] = clock[run == one]
    return np.diff(rows, axis=0)[FIRST:]


def _alarms(rows: Floats) -> list[Alarm]:
    """Watch the runs of a group; each alarm is taken for an announced change."""
    detector = LevelShift(worth=0.04)
    memory = detector.blank(rows.shape[1])
    found = []
    for step, row in enumerate(rows, FIRST + 1):
        alarms = detector.update(memory, step, row)
        for alarm in alarms:
            detector.relearn(memory, np.arange(rows.shape[1]) == alarm.series)
        found += alarms
    return found


def _tally(rows: Floats, shifts: list[int], slow: list[list[tuple[int, int]]]) -> Tally:
    delays, false = [], 0
    found: dict[int, list[Alarm]] = defaultdict(list)
    for alarm in _alarms(rows):
        found[alarm.series].append(alarm)
    for series, alarms in found.items():
        missing, last = set(shifts), -MERGED
        for alarm in alarms:
            hit = [step for step in missing if 0 <= alarm.index - step <= WITHIN]
            missing.difference_update(hit)
            delays += [alarm.index - step for step in hit]
            explained = hit or any(begin <= alarm.index <= begin + length + WITHIN for begin, length in slow[series])
            false += not explained and alarm.index - last > MERGED
            last = alarm.index
    return Tally(int(np.count_nonzero(~np.isnan(rows))), len(shifts) * rows.shape[1], delays, false)


@pytest.mark.skipif(not RUNS.is_dir(), reason=f"real step times not found in {RUNS} (set TRAINMASTER_SHARED)")
def test_planned_shifts_of_real_runs() -> None:
    """In every fifth group of replicate runs shifts are found soon and dated, with hardly a false alarm."""
    runs, shifts, slow = defaultdict(list), defaultdict(list), defaultdict(list)
    for line in _table("runs.csv"):
        runs[line["group"]].append(int(line["run"]))
    for line in _table("planned_changepoints.csv"):
        shifts[line["group"]].append(int(line["step"]))
    for line in _table("sustained_by_consensus.csv"):
        slow[int(line["run"])].append((int(line["step"]), int(line["len"])))
    chosen = list(runs.items())[::5]
    told = [_tally(_step_times(some), shifts[group], [slow[run] for run in some]) for group, some in chosen]
    rows, there, false = sum(t.rows for t in told), sum(t.shifts for t in told), sum(t.false for t in told)
    delays = [delay for t in told for delay in t.delays]
    assert rows > 50_000
    assert 1000 * false / rows <= 0.15
    assert 2 * len(delays) / (len(delays) + false + there) >= 0.65
    assert np.median(delays) <= 10


def _own_work(name: str) -> tuple[Floats, list[tuple[int, int]]]:
    """Give seconds of compute, shape (steps, workers), and each worker's data-parallel rank and stage."""
    table = parquet.read_table(TRACES / f"trace-{name}.parquet").to_pydict()
    spent: dict[tuple[int, tuple[int, int]], float] = defaultdict(float)
    columns = (table[column] for column in ("dp_rank", "stage", "step", "optype", "duration"))
    for rank, stage, step, kind, seconds in zip(*columns, strict=True):
        if "compute" in kind:
            spent[step, (rank, stage)] += seconds
    steps, workers = sorted({step for step, _ in spent}), sorted({worker for _, worker in spent})
    return np.array([[spent[step, worker] for worker in workers] for step in steps]), workers


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"real traces not found in {TRACES} (set TRAINMASTER_SHARED)")
@pytest.mark.parametrize(
    ("name", "culprits"),
    [
        pytest.param("AR", {(0, 0)}, id="one slow worker"),
        pytest.param("ST", set(), id="a last stage that is too long"),
        pytest.param("SE", set(), id="uneven sequences"),
    ],
)
def test_blame_in_real_traces(name: str, culprits: set[tuple[int, int]]) -> None:
    """The one slow worker is accused with its factor, and nobody else on any of the three traces."""
    rows, workers = _own_work(name)
    detector = SlowRank()
    memory = detector.with_groups(detector.blank(len(workers)), np.array([stage for _, stage in workers]))
    alarms = watch(detector, memory, rows)
    assert {workers[alarm.series] for alarm in alarms} == culprits
    for alarm in alarms:
        assert alarm.onset == 0
        assert alarm.numbers["ratio"] == pytest.approx(2.35, rel=0.05)
