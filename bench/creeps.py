"""Slow ramps put into real step times: how many are found, how soon and how well dated, and what healthy runs raise."""

from pathlib import Path

import numpy as np
from msgspec import Struct, field

from bench.alarm_rate import background, given
from bench.command import main_on
from bench.replicates import FIRST, groups
from bench.table import Table
from detectors.base import AnyDetector, Floats, watch
from detectors.creep import Creep
from detectors.level_shift import LevelShift

ONSET, LEAST, RUNS, GROUPS = 450, 1200, 12, 14
"""Row in which ramps begin, rows that a run must have, and how many runs of how many groups are taken."""
RAMPS = ((0.12, 300), (0.08, 200), (0.20, 600), (0.06, 200), (0.03, 1000))
"""Rise and rows of each."""
DETECTORS: dict[str, AnyDetector] = {"creep": Creep(), "level_shift": LevelShift(worth=0.04)}


class Tally(Struct):
    """Ramps, those found, alarms before they began, rows until they were found, and rows that the onset is off."""

    ramps: int = 0
    early: int = 0
    delays: list[int] = field(default_factory=list)
    off: list[int] = field(default_factory=list)


def rises(detector: AnyDetector, rows: Floats) -> list[tuple[int, int, int]]:
    """Give series, row and onset of every alarm on steps that have become longer, in the order of the rows."""
    found = watch(detector, detector.blank(rows.shape[1]), rows)
    return [(one.series, one.index, one.onset) for one in found if one.direction > 0 and not one.over]


def injected(detector: AnyDetector, runs: list[Floats], rise: float, over: int) -> Tally:
    """Put a ramp into every run, and look for it."""
    tally = Tally()
    for rows in runs:
        factor = 1.0 + rise * np.clip((np.arange(len(rows)) - ONSET) / over, 0.0, 1.0)
        first: dict[int, tuple[int, int]] = {}
        for series, index, onset in rises(detector, rows * factor[:, None]):
            first.setdefault(series, (index, onset))
        tally.ramps += rows.shape[1]
        tally.early += sum(index < ONSET for index, _ in first.values())
        late = [(index - ONSET, onset - ONSET) for index, onset in first.values() if index >= ONSET]
        tally.delays += [delay for delay, _ in late]
        tally.off += [off for _, off in late]
    return tally


def run(data: Path) -> Table:
    """Count false alarms on runs as they are and on their backgrounds, then look for ramps."""
    every = groups(data / "nanogpt-speedrun")
    backgrounds = [background(group) for group in every]
    rows: list[tuple[str | float | int, ...]] = []
    for name, detector in DETECTORS.items():
        for what, of in (("healthy", backgrounds), ("as recorded", [group.steps[FIRST:] for group in every])):
            found = sum(len(rises(detector, one)) for one in of)
            rows.append((f"none, {what}", name, given(of), found, "–", "–", "–"))
    long = [one[:, :RUNS] for one in backgrounds if len(one) >= LEAST][:GROUPS]
    for rise, over in RAMPS:
        for name, detector in DETECTORS.items():
            tally = injected(detector, long, rise, over)
            middle = float(np.median(tally.delays)) if tally.delays else "–"
            off = "{:.0f} to {:.0f}".format(*np.quantile(tally.off, (0.1, 0.9))) if tally.off else "–"
            ramp = f"{rise:.0%} over {over}"
            rows.append((ramp, name, tally.ramps, tally.early, len(tally.delays), middle, off))
    columns = ("ramp", "detector", "rows or ramps", "false", "found", "rows until found", "onset off, 10 to 90 %")
    return Table("creeps", f"ramps in real step times, from row {ONSET} on", columns, tuple(rows))


if __name__ == "__main__":
    main_on(run)
