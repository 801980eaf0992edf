"""Medians, spreads and rings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from detectors.base import Floats
from detectors.robust import centre_and_mad, centre_and_quartile_spread, latest_columns, median, push, quantiles

TABLES = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(-1e6, 1e6) | st.just(np.nan)
)


@given(TABLES)
def test_quantiles_agree_with_numpy(table: Floats) -> None:
    """Each series' quantiles are those of its readings alone, and NaN where it has none."""
    found = np.array(quantiles(table, (0.25, 0.5, 0.9)))
    for series, row in enumerate(table):
        given_rows = row[~np.isnan(row)]
        wanted = np.quantile(given_rows, [0.25, 0.5, 0.9]) if given_rows.size else np.full(3, np.nan)
        np.testing.assert_allclose(found[:, series], wanted, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("spread", [centre_and_mad, centre_and_quartile_spread])
def test_spread_of_normal_noise_is_its_standard_deviation(spread: object) -> None:
    """Both spreads are scaled to the standard deviation, and a fifth of wild rows hardly moves them."""
    rows = np.random.default_rng(0).normal(5.0, 2.0, size=(1, 20_000))
    rows[0, ::10] = 1e6
    assert callable(spread)
    centre, width = spread(rows)
    assert centre[0] == pytest.approx(5.0, abs=0.4)
    assert width[0] == pytest.approx(2.0, rel=0.25)


def test_quartiles_see_an_every_other_row_pattern() -> None:
    """Where the absolute deviation of a two-level pattern vanishes, the quartiles still tell its width."""
    rows = np.array([1.0] * 51 + [1.2] * 49)
    assert centre_and_mad(rows)[1] == 0
    assert centre_and_quartile_spread(rows)[1] == pytest.approx(0.148, abs=0.001)


@given(st.lists(st.integers(0, 2), max_size=60), st.integers(1, 7))
def test_a_ring_keeps_the_newest_rows_of_each_series(turns: list[int], size: int) -> None:
    """However the series take turns, each finds its own last values, oldest first."""
    ring, pushed = np.full((3, size), np.nan), np.zeros(3, dtype=np.int64)
    told: list[list[float]] = [[], [], []]
    for number, series in enumerate(turns):
        push(ring, pushed, np.array([series]), np.array([float(number)]))
        pushed[series] += 1
        told[series].append(float(number))
    columns = latest_columns(size, pushed, size)
    for series in range(3):
        values = ring[series, columns[series]]
        assert values[~np.isnan(values)].tolist() == told[series][-size:]


def test_the_newest_rows_can_be_left_out() -> None:
    """A lag leaves out the newest rows, as many for each series as is asked."""
    ring, pushed = np.arange(10.0).reshape(2, 5), np.array([5, 5])
    columns = latest_columns(5, pushed, 2, np.array([1, 3]))
    assert np.take_along_axis(ring, columns, axis=1).tolist() == [[2.0, 3.0], [5.0, 6.0]]


def test_median_of_nothing_is_nothing() -> None:
    """A series without readings has no median."""
    assert np.isnan(median(np.full((1, 4), np.nan))).all()


@given(TABLES)
def test_the_short_way_to_a_median_is_the_long_way(table: Floats) -> None:
    """Where every reading is there the median is found without counting them, and is the same to the last bit."""
    np.testing.assert_array_equal(median(table), quantiles(table, (0.5,))[0])
    whole = np.nan_to_num(table)
    np.testing.assert_array_equal(median(whole), quantiles(whole, (0.5,))[0])
