"""The healthy level of each series, learned from its own calm rows and frozen while it is not calm."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.base import Flags, Floats, Ints, Memory, fits, per_series, require
from detectors.robust import centre_and_quartile_spread, latest_columns, push

REFRESH = 20
"""Healthy rows from one look at the baseline to the next."""


class BaselineMemory(Memory):
    """Per series: its healthy rows and what was learned from them.

    Attributes:
        values: healthy rows, a ring, shape (series, held).
        rows: their row numbers, same shape.
        pushed: healthy rows ever pushed, less those withdrawn.
        unlearned: healthy rows since the baseline was last refreshed.
        centre: healthy level, NaN before it was learned.
        spread: standard deviation about it, likewise.
        frozen: set by the keeper while something is wrong with the job: what was learned stays as it is.
    """

    values: Floats
    rows: Ints
    pushed: Ints
    unlearned: Ints
    centre: Floats
    spread: Floats
    frozen: Flags


class Baseline:
    """Learn a level and a spread per series, robustly, from the last healthy rows but the newest.

    The spread is never smaller than a quarter of what is worth an alarm, so a signal that is flat to the last digit
    does not make a trifle look large.

    Args:
        worth: smallest relative change worth an alarm; one number, or one per series.
        floor: smallest absolute change worth an alarm, in the signal's unit; likewise. The larger of both counts.
        warmup: healthy rows before the first baseline.
        window: healthy rows that a baseline is learned from.
        lag: newest healthy rows that are left out, for they may belong to a change that is not yet seen.

    Cost: a sort of `window` values per series every 20 rows.
    Raises: ValueError for a parameter out of range.
    """

    def __init__(self, worth: float | Floats, floor: float | Floats, warmup: int, window: int, lag: int) -> None:
        self.worth, self.floor = per_series("worth", worth), per_series("floor", floor)
        require(warmup >= 2, "warmup", "at least 2 rows")
        require(window >= warmup, "window", "at least `warmup` rows")
        self.warmup, self.window, self.lag = warmup, window, lag
        self.held = window + 8 * lag

    def blank(self, width: int) -> dict[str, NDArray[Any]]:  # Any: numbers and row numbers
        """Make the fields of a `BaselineMemory`; refuse `worth` or `floor` arrays of another width."""
        fits("worth", self.worth, width)
        fits("floor", self.floor, width)
        return {
            "values": np.full((width, self.held), np.nan),
            "rows": np.zeros((width, self.held), dtype=np.int64),
            "pushed": np.zeros(width, dtype=np.int64),
            "unlearned": np.zeros(width, dtype=np.int64),
            "centre": np.full(width, np.nan),
            "spread": np.full(width, np.nan),
            "frozen": np.zeros(width, dtype=np.bool_),
        }

    def limits(self, memory: BaselineMemory) -> Floats:
        """Give the smallest distance from the baseline that is worth an alarm, per series."""
        return np.maximum(self.worth * np.abs(memory.centre), self.floor)

    def note(self, memory: BaselineMemory, index: int, row: Floats, healthy: Flags) -> Ints:
        """Keep a row's healthy values, and refresh the baselines that are due; say which those were."""
        series = np.flatnonzero(healthy)
        push(memory.values, memory.pushed, series, row[series])
        push(memory.rows, memory.pushed, series, index)
        memory.pushed += healthy
        memory.unlearned += healthy
        first = np.isnan(memory.centre) & (memory.pushed >= self.warmup)
        refresh = (memory.unlearned >= REFRESH) & ~np.isnan(memory.centre) & ~memory.frozen
        due = healthy & (first | refresh)
        refreshed = np.flatnonzero(due)
        if refreshed.size:
            self.learn(memory, refreshed)
        return refreshed

    def learn(self, memory: BaselineMemory, series: Ints) -> None:
        """Learn the baselines of some series from what is held."""
        pushed = memory.pushed[series]
        lag = np.clip(pushed - self.warmup, 0, self.lag)
        columns = latest_columns(self.held, pushed, self.window, lag)
        memory.centre[series], spread = centre_and_quartile_spread(memory.values[series[:, None], columns])
        least = np.maximum(self.limits(memory)[series] / 4, 1e-9 * np.abs(memory.centre[series]))
        memory.spread[series] = np.maximum(np.maximum(spread, least), 1e-150)
        memory.unlearned[series] = 0

    def last(self, memory: BaselineMemory, series: int, count: int) -> tuple[Floats, Ints]:
        """Give up to `count` of a series' last healthy values and their row numbers, oldest first."""
        columns = latest_columns(self.held, memory.pushed[series, None], min(count, self.held))[0]
        values, rows = memory.values[series, columns], memory.rows[series, columns]
        held = ~np.isnan(values)
        return values[held], rows[held]

    def add(self, memory: BaselineMemory, series: int, values: Floats, rows: Ints) -> None:
        """Keep further healthy values of a series; it learns from them with those that follow."""
        columns = (memory.pushed[series] + np.arange(values.size)) % self.held
        memory.values[series, columns], memory.rows[series, columns] = values, rows
        memory.pushed[series] += values.size
        memory.unlearned[series] += values.size

    def withdraw(self, memory: BaselineMemory, series: int, count: int) -> None:
        """Take back a series' newest `count` rows, which were not healthy after all; unless frozen, learn again."""
        columns = latest_columns(self.held, memory.pushed[series, None], count)[0]
        memory.values[series, columns] = np.nan
        memory.pushed[series] -= count
        if not memory.frozen[series] and np.count_nonzero(~np.isnan(memory.values[series])) >= self.warmup:
            self.learn(memory, np.array([series]))
