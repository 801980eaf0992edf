"""The rate of false alarms as a setting: what was set against what came, on real step times without fault or plan."""

from pathlib import Path

import numpy as np

from bench.command import main_on
from bench.replicates import FIRST, Group, groups
from bench.table import Table
from detectors.alarm_rate import fit_tail
from detectors.base import Floats, watch
from detectors.level_shift import LevelShift

LEAST = 0.005
"""Smallest relative change that is looked for where the tail is learned."""
SETTINGS = (30_000, 60_000, 120_000, 240_000)
"""Rows between two false alarms."""


def background(group: Group) -> Floats:
    """Take out of the runs what is planned and what is a fault: step times over the median run's."""
    with np.errstate(invalid="ignore"):
        rows = group.steps / np.nanmedian(group.steps, axis=1, keepdims=True)
    rows /= np.nanmedian(rows, axis=0)
    for place, run in enumerate(group.runs):
        for step, count in group.stalls[run]:
            rows[step - 1 : step + count + 1, place] = np.nan
        for step, count in group.slow[run]:
            rows[step : step + count, place] = np.nan
    rows[group.planned] = np.nan
    return rows[FIRST:]


def changes(of: list[Floats], worth: float) -> Floats:
    """Give the relative sizes of all changes that `level_shift` finds; each is taken for the new level."""
    sizes: list[float] = []
    detector = LevelShift(worth=worth)
    for rows in of:
        memory = detector.blank(rows.shape[1])
        for index, row in enumerate(rows):
            for alarm in watch(detector, memory, row[None], index):
                if not alarm.over:
                    sizes.append(max(abs(alarm.after / alarm.before - 1), worth))
                    detector.relearn(memory, np.arange(memory.width) == alarm.series)
    return np.array(sizes)


def given(of: list[Floats]) -> int:
    """Count the readings."""
    return sum(int(np.isfinite(rows).sum()) for rows in of)


def run(data: Path) -> Table:
    """Learn the tail on every other group, set a rate, count on the rest; then the other way round."""
    every = [background(group) for group in groups(data / "nanogpt-speedrun")]
    halves = [every[::2], every[1::2]]
    tails = [fit_tail(changes(half, LEAST), LEAST, given(half)) for half in halves]
    rows: list[tuple[str | float | int, ...]] = []
    for setting in SETTINGS:
        worths = [tail.worth(setting) for tail in reversed(tails)]
        found = sum(changes(half, worth).size for half, worth in zip(halves, worths, strict=True))
        observed = given(every) / max(found, 1)
        rows.append((setting, *worths, found, observed, max(observed / setting, setting / observed)))
    what = f"{given(every):,} real step times, plan and faults taken out; learned on half, counted on the other"
    columns = ("rows between, set", "worth, 1st half", "worth, 2nd half", "alarms", "rows between, observed", "factor")
    return Table("alarm_rate", what, columns, tuple(rows))


if __name__ == "__main__":
    main_on(run)
