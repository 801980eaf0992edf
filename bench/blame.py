"""Yardstick D: cause, culprit and slowdown on three traces of real jobs."""

from pathlib import Path

import numpy as np
from msgspec import Struct
from pyarrow import parquet

from bench.command import main_on
from bench.table import Table
from detectors.base import Alarm, Floats, watch
from detectors.pipeline_time import job_slowdown
from detectors.slow_rank import SlowRank

PUBLISHED = {"AR": ("worker (0, 0)", 1.973), "ST": ("last stage", 1.179), "SE": ("uneven sequences", 1.537)}
"""Trace -> what its authors blame, and the slowdown they simulate."""
FAR = 1.2
"""Times its peers' or the other stages' work that stands out."""
OFTEN = 0.5
"""Share of the workers that stand out in some step where sequences are uneven."""


class Trace(Struct, frozen=True):
    """Seconds of own work, shape (steps, replicas, stages, micro-batches)."""

    forward: Floats
    backward: Floats

    def work(self) -> Floats:
        """Seconds of one worker in one step, shape (steps, replicas, stages)."""
        total: Floats = (self.forward + self.backward).sum(axis=-1)
        return total


def read_trace(path: Path) -> Trace:
    """Read the computing operations of a trace."""
    table = parquet.read_table(path, columns=["step", "dp_rank", "stage", "mb_id", "optype", "duration"])
    names = np.array(table["optype"].to_pylist())
    found = []
    for kind in ("forward-compute", "backward-compute"):
        some = table.filter(names == kind)
        axes = [np.unique(some[name].to_numpy(), return_inverse=True) for name in table.column_names[:4]]
        seconds = np.full([labels.size for labels, _ in axes], np.nan)
        seconds[tuple(places for _, places in axes)] = some["duration"].to_numpy()
        found.append(seconds)
    return Trace(*found)


def accused(trace: Trace) -> list[Alarm]:
    """Run `slow_rank` over the workers, each compared with those of its stage."""
    work = trace.work()
    steps, replicas, stages = work.shape
    detector = SlowRank()
    memory = detector.with_groups(detector.blank(replicas * stages), np.tile(np.arange(stages), replicas))
    return watch(detector, memory, work.reshape(steps, -1))


def cause(trace: Trace, alarms: list[Alarm]) -> str:
    """Say what holds the job up: a worker that is accused, a stage that is too long, or work that is uneven."""
    work = trace.work()
    stages = work.shape[2]
    if alarms:
        workers = sorted({divmod(alarm.series, stages) for alarm in alarms})
        return "worker " + ", ".join(map(str, workers))
    stand_out = (work > FAR * np.median(work, axis=1, keepdims=True)).any(axis=0)
    if stand_out.mean() > OFTEN:
        return "uneven sequences"
    by_stage = np.median(work, axis=(0, 1))
    longest = int(np.argmax(by_stage))
    if by_stage[longest] > FAR * np.median(np.delete(by_stage, longest)):
        return "last stage" if longest == stages - 1 else f"stage {longest}"
    return "nothing"


def run(data: Path) -> Table:
    """Judge each trace."""
    rows: list[tuple[str | float | int, ...]] = []
    for name, (blamed, slowdown) in PUBLISHED.items():
        trace = read_trace(data / f"straggler-analysis/data/trace-{name}.parquet")
        alarms = accused(trace)
        ratio: float | str = alarms[0].numbers["ratio"] if alarms else "–"
        times = job_slowdown(trace.forward, trace.backward)
        rows.append((name, cause(trace, alarms), blamed, ratio, times, slowdown, f"{times / slowdown - 1:+.1%}"))
    columns = ("trace", "we say", "its authors say", "culprit's ratio", "slowdown", "published", "off by")
    return Table("blame", "cause, culprit and slowdown on three traces of real jobs", columns, tuple(rows))


if __name__ == "__main__":
    main_on(run)
