"""Yardstick G: what a detector costs, in µs per point and per rank, beside peers where they are installed."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.command import main_alone
from bench.peers import river
from bench.table import Table
from detectors.base import AnyDetector, Floats
from detectors.catalogue import DETECTORS
from detectors.slow_rank import SlowRank

SERIES, ROWS = 10_000, 300
RANKS, STEPS = 1_024, 300
WARM = 100
ROUNDS = 3


def _rows(rows: int, width: int) -> Floats:
    return 1 + 0.02 * np.random.default_rng(5).normal(size=(rows, width))


def per_row(detector: AnyDetector, rows: Floats) -> float:
    """Seconds per row once everything is learned; the fastest of three stretches of the data."""
    memory = detector.blank(rows.shape[1])
    for index in range(WARM):
        detector.update(memory, index, rows[index])
    stretches = np.array_split(np.arange(WARM, len(rows)), ROUNDS)
    spent = []
    for stretch in stretches:
        begin = time.process_time()
        for index in stretch.tolist():
            detector.update(memory, index, rows[index])
        spent.append((time.process_time() - begin) / stretch.size)
    return min(spent)


def _peer(make: Callable[[], Any]) -> float:  # Any: detectors of several kinds
    """Seconds per point of a detector that takes one value at a time."""
    values = _rows(20_000, 1)[:, 0].tolist()
    spent = []
    for _ in range(ROUNDS):
        detector = make()
        begin = time.process_time()
        for value in values:
            detector.update(value)
        spent.append((time.process_time() - begin) / len(values))
    return min(spent)


def run() -> Table:
    """Time the detectors that watch many series, slow_rank over its ranks, and river's."""
    rows: list[tuple[str | float | int, ...]] = []
    wide = _rows(ROWS, SERIES)
    for name in ("level_shift", "spike", "slow_step", "extreme"):
        spent = per_row(DETECTORS[name](), wide)
        rows.append((name, SERIES, 1e6 * spent / SERIES, 1e6 * spent))
    few = wide[:, :20]
    spent = per_row(DETECTORS["change_point"](), few)
    rows.append(("change_point", 20, 1e6 * spent / 20, 1e6 * spent))
    spent = per_row(SlowRank(), _rows(STEPS, RANKS))
    rows.append(("slow_rank", RANKS, 1e6 * spent / RANKS, 1e6 * spent))
    for name in ("ADWIN", "PageHinkley", "KSWIN"):
        made = river("drift", name)
        if made:
            rows.append((f"river {name}", 1, 1e6 * _peer(made), "–"))
    what = "CPU time per point on healthy noise of 2 %, everything learned; the fastest third of the rows"
    return Table("detector_speed", what, ("detector", "series", "µs per point", "µs per row"), tuple(rows))


if __name__ == "__main__":
    main_alone(run)
