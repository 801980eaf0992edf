"""Yardstick F: delay of a change found in Gaussian noise, against Lorden's lower bound at the same false-alarm rate."""

import numpy as np
from msgspec import Struct

from bench.command import main_alone
from bench.table import Table
from detectors.base import Alarm, AnyDetector, Floats
from detectors.change_point import ChangePoint
from detectors.level_shift import LevelShift, LevelShiftMemory

SHIFTS = (0.5, 1.0, 2.0, 3.0)
BEFORE, AFTER = 300, 400
"""Rows that are known before the change, and rows in which it may be found."""
CALM_ROWS = 3000


class Setting(Struct, frozen=True):
    """A detector by name, and how many series it can be tried on in reasonable time."""

    name: str
    detector: AnyDetector
    calm: int
    changed: int


SETTINGS = (
    Setting("change_point", ChangePoint(), 32, 60),
    Setting("level_shift, worth 0", LevelShift(worth=0.0), 400, 300),
    Setting("level_shift, worth 0, drift 0.5", LevelShift(worth=0.0, drift=0.5), 400, 300),
)


def _alarms(detector: AnyDetector, rows: Floats) -> list[Alarm]:
    """Watch all series; a level that was found is the new one, as `detect` has it."""
    memory, found = detector.blank(rows.shape[1]), []
    for index, row in enumerate(rows):
        for alarm in detector.update(memory, index, row):
            if not alarm.over and alarm.index == index:
                found.append(alarm)
                if isinstance(detector, LevelShift) and isinstance(memory, LevelShiftMemory):
                    detector.relearn(memory, np.arange(memory.width) == alarm.series)
    return found


def rows_per_false_alarm(setting: Setting) -> tuple[float, int]:
    """Give the rows of pure noise per alarm (at most all of them), and the alarms there were."""
    rows = np.random.default_rng(2).normal(size=(CALM_ROWS, setting.calm))
    count = len(_alarms(setting.detector, rows))
    return rows.size / max(count, 1), count


def delay(setting: Setting, shift: float) -> float:
    """Mean rows from the change to its alarm, both counted; one that is not found counts with all rows there were."""
    rows = np.random.default_rng(1).normal(size=(BEFORE + AFTER, setting.changed))
    rows[BEFORE:] += shift
    first = np.full(setting.changed, float(AFTER))
    for alarm in _alarms(setting.detector, rows):
        if alarm.index >= BEFORE:
            first[alarm.series] = min(first[alarm.series], alarm.index - BEFORE + 1)
    return float(first.mean())


def run() -> Table:
    """Measure the false-alarm rate of each setting, then its delays."""
    lines: list[tuple[str | float | int, ...]] = []
    for setting in SETTINGS:
        between, count = rows_per_false_alarm(setting)
        for shift in SHIFTS:
            bound = float(np.log(between)) / (shift**2 / 2)
            found = delay(setting, shift)
            lines.append((setting.name, f"{between:,.0f} ({count} alarms)", shift, found, bound, found / bound))
    columns = ("detector", "rows per false alarm", "shift, sd", "mean delay", "bound", "times the bound")
    what = f"one change after {BEFORE} rows of Gaussian noise, nothing known of level or spread"
    return Table("delay_bound", what, columns, tuple(lines))


if __name__ == "__main__":
    main_alone(run)
