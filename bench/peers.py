"""Detectors of other projects, measured in the same run where they are installed: `pip install river`."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import ruptures

from detectors.base import Floats

FIRST_ROWS = 30


class Online(Protocol):
    """A drift detector of river: one value in, a flag out."""

    drift_detected: bool

    def update(self, x: float) -> Any:  # noqa: ANN401 - the return differs from version to version
        """Take one value."""
        ...


def river(module: str, name: str, **options: float) -> Callable[[], Online] | None:
    """Give a class of river to build afresh, or None where river is not installed."""
    if importlib.util.find_spec("river") is None:
        return None
    made = getattr(importlib.import_module(f"river.{module}"), name)
    return lambda: made(**options)


def online_alarms(make: Callable[[], Online], rows: Floats) -> list[int]:
    """Feed one series, NaN left out; give the rows in which it alarmed."""
    detector, found = make(), []
    for index, value in enumerate(rows.tolist()):
        if value == value:
            detector.update(value)
            if detector.drift_detected:
                found.append(index)
    return found


def binary_segmentation(rows: Floats) -> list[int]:
    """Cut a whole series after the fact (ruptures, least squares, penalty 2 log n of the scatter): no online peer."""
    given = np.flatnonzero(~np.isnan(rows))
    if given.size < 5:
        return []
    values = rows[given]
    penalty = 2 * np.log(values.size) * max(float(np.var(values)), 1e-12)
    cuts: Sequence[int] = ruptures.Binseg(model="l2", min_size=2, jump=1).fit(values).predict(pen=penalty)
    return [int(given[cut]) for cut in cuts if cut < values.size]


class WindowedGaussian:
    """The tail probability of a value under the last rows' mean and deviation: the plainest of all online scores."""

    def __init__(self, window: int = 6400, refresh: int = 100) -> None:
        self.window, self.refresh = window, refresh

    def scores(self, rows: Floats) -> Floats:
        """Give 0..1 per row."""
        graded = np.zeros(rows.size)
        mean = deviation = 0.0
        for index in range(FIRST_ROWS, rows.size):
            if (index - FIRST_ROWS) % self.refresh == 0:
                past = rows[max(0, index - self.window) : index]
                mean, deviation = float(np.nanmean(past)), float(np.nanstd(past)) + 1e-9
            far = abs(rows[index] - mean) / deviation
            graded[index] = 1 - np.exp(-0.5 * far * far) if np.isfinite(far) else 0.0
        return graded
