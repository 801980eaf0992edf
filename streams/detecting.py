"""Detectors tried on any series, strictly online: what each would have said, row by row."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from detectors.base import Alarm, AnyDetector, Floats, Ints, Memory
from detectors.extreme import Extreme
from detectors.fitting import fitted, fitting
from detectors.level_shift import LevelShift, LevelShiftMemory
from detectors.nonfinite import mark
from schemas.signals import Signal

Reading = float | None


class Series(Struct, frozen=True):
    """A table of readings.

    Attributes:
        names: of the columns.
        rows: readings, shape (rows, columns); None is an empty cell, NaN and infinity are readings.
        steps: number of each row on the clock of the job, growing; empty where rows count themselves.
    """

    names: tuple[str, ...]
    rows: Sequence[Sequence[Reading]]
    steps: tuple[int, ...] = ()


class Said(Struct, frozen=True):
    """What was found in one column: alarms in the order they were raised, and a score 0..1 per row."""

    alarms: list[dict[str, Any]]  # Any: the object of the contract
    scores: list[float]


def detect(series: Series, names: Sequence[str] = (), signal: Signal | None = None) -> dict[str, Said]:
    """Run detectors over all columns of a table, each row before the next.

    A detector that compares ranks sees the columns as ranks. Revisions and ends of an episode are left out: an alarm
    is what would have woken somebody. A level that was found is learned as the new one, for nobody is there to say
    whether it is legitimate.

    Args:
        series: the table.
        names: detectors; those that fit the signal where none is named.
        signal: what the columns mean; None = not known.

    Raises:
        KeyError: there is no detector of that name.
        ValueError: the detector does not take such rows.
    """
    rows = np.array([[math.nan if x is None else x for x in row] for row in series.rows], dtype=np.float64)
    rows = rows.reshape(len(series.rows), len(series.names))
    clock = np.array(series.steps or range(len(rows)), dtype=np.int64)
    alarms: list[tuple[str, Alarm]] = []
    for name in names or fitting(signal):
        detector = fitted(name, signal)
        marks = _marks(series) if name == "nonfinite" else np.where(np.isinf(rows), np.nan, rows)
        alarms += [(name, alarm) for alarm in _run(detector, marks, clock)]
    scores = _alarm_scores(alarms, clock, len(series.names)) if names else _grades(rows, clock)
    row_of = {int(step): row for row, step in enumerate(clock)}
    alarms.sort(key=lambda found: found[1].index)
    return {
        column: Said(
            [_told(name, alarm, row_of) for name, alarm in alarms if alarm.series == place], scores[:, place].tolist()
        )
        for place, column in enumerate(series.names)
    }


def _run(detector: AnyDetector, rows: Floats, clock: Ints) -> list[Alarm]:
    """Keep the alarms that open an episode."""
    memory = detector.blank(rows.shape[1])
    accept = _accepts(detector, memory)
    opened: dict[int, int] = {}
    found = []
    for row, step in zip(rows, clock.tolist(), strict=True):
        for alarm in detector.update(memory, step, row):
            if alarm.over:
                opened.pop(alarm.series, None)
            elif opened.get(alarm.series) != alarm.onset:
                opened[alarm.series] = alarm.onset
                found.append(alarm)
                accept(alarm)
    return found


def _accepts(detector: AnyDetector, memory: Memory) -> Callable[[Alarm], None]:
    if not (isinstance(detector, LevelShift) and isinstance(memory, LevelShiftMemory)):
        return lambda _: None
    return lambda alarm: detector.relearn(memory, np.arange(memory.width) == alarm.series)


def _marks(series: Series) -> Floats:
    marks = np.array([[mark(x) for x in row] for row in series.rows], dtype=np.float64)
    return marks.reshape(len(series.rows), len(series.names))


def _grades(rows: Floats, clock: Ints) -> Floats:
    """How new each row is to its series; a row that is no number is as new as can be."""
    extreme = Extreme()
    memory = extreme.blank(rows.shape[1])
    grades = np.zeros(rows.shape)
    for place, (row, step) in enumerate(zip(rows, clock.tolist(), strict=True)):
        extreme.update(memory, step, np.where(np.isinf(row), np.nan, row))
        grades[place] = np.where(np.isinf(row), 1.0, extreme.grade(memory))
    return grades


def _alarm_scores(alarms: list[tuple[str, Alarm]], clock: Ints, width: int) -> Floats:
    scores = np.zeros((clock.size, width))
    for _, alarm in alarms:
        row = int(np.searchsorted(clock, alarm.index))
        scores[row, alarm.series] = max(scores[row, alarm.series], alarm.score / (1 + alarm.score))
    return scores


def _told(name: str, alarm: Alarm, row_of: dict[int, int]) -> dict[str, Any]:  # Any: the object of the contract
    return {
        "detector": name,
        "index": row_of[alarm.index],
        "onset": row_of.get(alarm.onset, 0),
        "before": _finite(alarm.before),
        "after": _finite(alarm.after),
        "score": alarm.score,
        "limit": _finite(alarm.limit),
        "direction": alarm.direction,
        "kind": alarm.kind,
        "numbers": {key: _finite(value) for key, value in alarm.numbers.items()},
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
