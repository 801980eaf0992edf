"""Strange losses put into real ones: zero, drops, rises, numbers that are none, and losses that are missing."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from msgspec import Struct

from bench.command import main_on
from bench.replicates import groups
from bench.table import Table
from schemas.signals import signal_named
from streams.detecting import Reading, Series, detect

SETTLED, WITHIN = 100, 5
"""Rows before the first injection; rows in which it must be found."""
PLACES = 4
"""Injections per run, one at a time."""


class Strange(Struct, frozen=True):
    """What is done to a loss, and for how many rows."""

    name: str
    rows: int
    change: Callable[[float], Reading]


STRANGE = (
    Strange("zero, one row", 1, lambda _: 0.0),
    Strange("half, one row", 1, lambda loss: 0.5 * loss),
    Strange("a quarter less, three rows", 3, lambda loss: 0.75 * loss),
    Strange("a quarter more, one row", 1, lambda loss: 1.25 * loss),
    Strange("NaN, one row", 1, lambda _: math.nan),
    Strange("infinite, one row", 1, lambda _: math.inf),
    Strange("missing, five rows", 5, lambda _: None),
)


def losses(data: Path) -> list[list[float]]:
    """Give the losses of every run that logs one at each step."""
    found: list[list[float]] = []
    for group in groups(data / "nanogpt-speedrun"):
        for column in group.losses.T:
            given = np.flatnonzero(np.isfinite(column))
            if given.size > 2 * SETTLED and given.size == given[-1] - given[0] + 1:
                found.append(column[given].tolist())
    return found


def places(rows: int, chance: np.random.Generator) -> list[int]:
    """Draw rows for the injections."""
    return [int(place) for place in chance.integers(SETTLED, rows - WITHIN, PLACES)]


def _changed(loss: list[float], strange: Strange, place: int) -> list[Reading]:
    changed: list[Reading] = list(loss)
    changed[place : place + strange.rows] = [strange.change(x) for x in loss[place : place + strange.rows]]
    return changed


def alarms(columns: list[list[Reading]]) -> list[set[int]]:
    """Give the rows of alarms per column, as `detect` raises them on losses of one length."""
    names = tuple(map(str, range(len(columns))))
    said = detect(Series(names, list(zip(*columns, strict=True))), (), signal_named("loss"))
    return [{int(one["index"]) for one in said[name].alarms} for name in names]


def run(data: Path) -> Table:
    """Inject each strangeness into each run; alarms that the run raises without it do not count."""
    tally = {strange.name: [0, 0, 0] for strange in STRANGE}
    chance = np.random.default_rng(0)
    for loss in losses(data):
        cases = [(strange, place) for strange in STRANGE for place in places(len(loss), chance)]
        usual, *raised = alarms([list(loss), *(_changed(loss, *case) for case in cases)])
        for (strange, place), said in zip(cases, raised, strict=True):
            near = {row for row in said - usual if place <= row <= place + WITHIN}
            for at, count in enumerate((1, bool(near), len(said - usual - near))):
                tally[strange.name][at] += count
    rows = tuple((name, there, found / max(there, 1), other) for name, (there, found, other) in tally.items())
    what = f"put into the losses of real runs, found within {WITHIN} rows by what fits a loss"
    return Table("injected_losses", what, ("what", "cases", "recall", "further alarms"), rows)


if __name__ == "__main__":
    main_on(run)
