"""Step times of replicate runs of the same code, and what the replicates agree on."""

import csv
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
from msgspec import Struct
from pyarrow import parquet

from detectors.base import Flags, Floats

FIRST = 21
"""Steps before this one are start-up."""
LOOK = 31
"""Steps in whose median a planned step stands out."""
OUT = 1.08
FEWEST = 5
"""Replicates that can agree on something."""

Spans = list[tuple[int, int]]


class Group(Struct, frozen=True):
    """Replicates of one code.

    Attributes:
        name: of the group.
        runs: their numbers.
        steps: milliseconds, shape (steps, runs), row = step; NaN in the first steps and where a run is shorter.
        losses: shape (steps, runs).
        planned: steps that are slow in the median run, shape (steps,).
        periodic: True where the steps follow an alternating pattern.
        stalls: per run, (step, steps long).
        slow: per run, long slow stretches, likewise.
        shifts: planned changes of level.
        spikes: per run, steps in which the loss jumps in all replicates.
    """

    name: str
    runs: tuple[int, ...]
    steps: Floats
    losses: Floats
    planned: Flags
    periodic: bool
    stalls: dict[int, Spans]
    slow: dict[int, Spans]
    shifts: tuple[int, ...]
    spikes: dict[int, list[int]]


def groups(folder: Path) -> list[Group]:
    """Read all groups of enough replicates."""
    members: dict[str, list[int]] = defaultdict(list)
    for line in _table(folder / "runs.csv"):
        members[line["group"]].append(int(line["run"]))
    shifts: dict[str, list[int]] = defaultdict(list)
    for line in _table(folder / "planned_changepoints.csv"):
        shifts[line["group"]].append(int(line["step"]))
    stalls, slow = (_spans(folder / f"{name}_by_consensus.csv") for name in ("stalls", "sustained"))
    spikes: dict[int, list[int]] = defaultdict(list)
    for line in _table(folder / "loss_spikes_by_consensus.csv"):
        spikes[int(line["run"])].append(int(line["step"]))
    clocks = _clocks(folder / "steps.parquet")
    found = []
    for name, runs in members.items():
        if len(runs) >= FEWEST:
            times, losses = _matrix(clocks, runs)
            found.append(
                Group(
                    name, tuple(runs), times, losses, _planned(times), _periodic(times), stalls, slow,
                    tuple(shifts[name]), spikes,
                )
            )  # fmt: skip
    return found


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _spans(path: Path) -> dict[int, Spans]:
    spans: dict[int, Spans] = defaultdict(list)
    for line in _table(path):
        spans[int(line["run"])].append((int(line["step"]), int(line["len"])))
    return spans


def _clocks(path: Path) -> dict[int, tuple[Floats, Floats, Floats]]:
    """Give step, clock and loss of each run."""
    columns = parquet.read_table(path, columns=["run", "step", "train_time_ms", "train_loss"])
    run, step, clock, loss = (columns[name].to_numpy() for name in columns.column_names)
    order = np.lexsort((step, run))
    run, step, clock, loss = run[order], step[order], clock[order], loss[order]
    edges = np.searchsorted(run, np.arange(run.max() + 2))
    return {
        one: (step[begin:end], clock[begin:end], loss[begin:end])
        for one, (begin, end) in enumerate(itertools.pairwise(edges))
        if end > begin
    }


def _matrix(clocks: dict[int, tuple[Floats, Floats, Floats]], runs: list[int]) -> tuple[Floats, Floats]:
    count = int(max(clocks[run][0].max() for run in runs)) + 1
    clock, losses = np.full((count, len(runs)), np.nan), np.full((count, len(runs)), np.nan)
    for place, run in enumerate(runs):
        step, ms, loss = clocks[run]
        clock[step.astype(int), place], losses[step.astype(int), place] = ms, loss
    times = np.full_like(clock, np.nan)
    times[1:] = np.diff(clock, axis=0)
    times[:FIRST] = np.nan
    return times, losses


def _usual(times: Floats) -> Floats:
    """The median run, from the first step that counts."""
    usual: Floats = np.nanmedian(times[FIRST:], axis=1)
    return usual


def _planned(times: Floats) -> Flags:
    """Steps in which the median run is slower than in the steps just before."""
    usual = _usual(times)
    padded = np.concatenate((np.full(LOOK - 1, np.nan), usual))
    past = np.nanmedian(np.lib.stride_tricks.sliding_window_view(padded, LOOK), axis=1)
    planned = np.zeros(len(times), dtype=np.bool_)
    planned[FIRST:] = usual > OUT * past
    return planned


def _periodic(times: Floats) -> bool:
    """Tell whether odd and even steps differ by 15 % in any stretch of a hundred."""
    usual = _usual(times)
    stretches = [usual[at : at + 100] for at in range(0, usual.size - 100, 100)]
    spread = [abs(np.nanmedian(some[::2]) / np.nanmedian(some[1::2]) - 1) for some in stretches]
    return max(spread, default=0.0) >= 0.15
