"""Slow ranks put into real backgrounds: precision, recall and delay of `slow_rank` by how slow they are."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from bench.command import main_on
from bench.replicates import groups
from bench.table import Table
from detectors.base import Floats
from streams.detecting import Series, detect

SLOWER = (0.05, 0.08, 0.10, 0.20, 0.50, 1.00)
FEWEST, ROWS = 8, 400
"""Ranks that make a job; steps of one episode."""
FROM, TO = 100, 300
"""Steps between which a fault begins."""
ROUNDS = 6
LEAST_STEP = 60
"""A job's stretch begins here, when it has warmed up."""


class Scene(Struct, frozen=True):
    """Own work of some ranks, shape (rows, ranks); the slow rank and since when, or -1."""

    rows: Floats
    culprit: int
    onset: int


def backgrounds(data: Path) -> list[Floats]:
    """Take replicate runs of one code for the ranks of a job: the same plan, each with its own noise and stalls."""
    found = []
    for group in groups(data / "nanogpt-speedrun"):
        rows = group.steps[LEAST_STEP : LEAST_STEP + ROWS]
        rows = rows[:, ~np.isnan(rows).any(axis=0)]
        if rows.shape[1] >= FEWEST and len(rows) == ROWS:
            found.append(rows)
    return found


def scenes(of: list[Floats], slower: float, seed: int) -> Iterator[Scene]:
    """Make one rank of each background slower, from a row drawn by lot; with 0 nobody is."""
    chance = np.random.default_rng(seed)
    for background in of:
        for _ in range(ROUNDS):
            culprit, onset = int(chance.integers(background.shape[1])), int(chance.integers(FROM, TO))
            rows = background.copy()
            rows[onset:, culprit] *= 1 + slower
            yield Scene(rows, culprit, onset) if slower else Scene(rows, -1, -1)


def accused(rows: Floats) -> list[tuple[int, int]]:
    """Give (rank, row of the alarm) as `detect --detector slow_rank` has them."""
    names = tuple(str(rank) for rank in range(rows.shape[1]))
    said = detect(Series(names, rows.tolist()), ("slow_rank",))
    return [(int(name), int(alarm["index"])) for name, one in said.items() for alarm in one.alarms]


def run(data: Path) -> Table:
    """Inject each slowness, and none."""
    of = backgrounds(data)
    rows: list[tuple[str | float | int, ...]] = []
    innocents = 0
    for place, slower in enumerate((0.0, *SLOWER)):
        cases, found, false, delays = 0, 0, 0, []
        for scene in scenes(of, slower, place):
            cases += 1
            alarms = accused(scene.rows)
            right = [row for rank, row in alarms if rank == scene.culprit and row >= scene.onset]
            found += bool(right)
            false += len({rank for rank, _ in alarms if rank != scene.culprit})
            delays += [row - scene.onset for row in right[:1]]
        innocents += false
        precision = found / max(found + false, 1)
        delay: float | str = float(np.median(delays)) if delays else "–"
        name = f"{slower:.0%}" if slower else "nobody slow"
        rows.append((name, cases, found / cases, precision if slower else "–", false, delay))
    what = f"one rank made slower in {len(of)} jobs whose ranks are replicates of real runs, {ROWS} steps each"
    columns = ("slower by", "cases", "recall", "precision", "innocents accused", "median delay, steps")
    return Table("injected_slow_rank", what, columns, tuple(rows))


if __name__ == "__main__":
    main_on(run)
