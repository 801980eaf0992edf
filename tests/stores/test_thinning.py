"""Thinning keeps the extremes, in order, within its limit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from streams.stores.thinning import choose

READING = st.one_of(st.floats(-1e6, 1e6), st.just(float("nan")))
TABLES = st.tuples(st.integers(1, 60), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=READING)
)


@settings(deadline=None)
@given(TABLES, st.integers(1, 40))
def test_chosen_rows_are_few_and_in_order(rows: np.ndarray, points: int) -> None:
    """Never more rows than wanted, ascending, each once, and all of them where they fit."""
    chosen = choose(rows, np.zeros(rows.shape, dtype=bool), points)
    assert len(chosen) <= points
    assert list(chosen) == sorted(set(chosen.tolist()))
    if len(rows) <= points:
        assert len(chosen) == len(rows)


@settings(deadline=None)
@given(TABLES, st.integers(8, 40))
def test_the_range_of_every_signal_survives(rows: np.ndarray, points: int) -> None:
    """With room for two points of each signal the least and the greatest of each are among the chosen."""
    chosen = choose(rows, np.zeros(rows.shape, dtype=bool), points)
    for column in range(rows.shape[1]):
        there = rows[:, column][~np.isnan(rows[:, column])]
        kept = rows[chosen, column]
        if len(there):
            assert np.nanmin(kept) == there.min()
            assert np.nanmax(kept) == there.max()


def test_every_stretch_keeps_its_own_extremes() -> None:
    """A small dip survives in its stretch of time although another stretch dips deeper."""
    series = np.full((100, 1), 2.0)
    series[10], series[80] = 1.9, 0.5
    chosen = choose(series, np.zeros((100, 1), dtype=bool), 20).tolist()
    assert 10 in chosen
    assert 80 in chosen


def test_a_lost_reading_survives() -> None:
    """The first reading of a stretch that was not finite is kept: on the page it is the gap in the line."""
    series, lost = np.full((100, 1), 2.0), np.zeros((100, 1), dtype=bool)
    series[42], lost[42] = np.nan, True
    assert 42 in choose(series, lost, 10)
