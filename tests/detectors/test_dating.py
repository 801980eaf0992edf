"""The row at which a level changed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.dating import date_shift


@given(
    before=st.integers(1, 60),
    after=st.integers(1, 60),
    low=st.floats(-1e6, 1e6),
    step=st.floats(1e-3, 1e6) | st.floats(-1e6, -1e-3),
)
def test_exact_on_a_noiseless_step(before: int, after: int, low: float, step: float) -> None:
    """Whatever the two levels are and wherever the step is, offset and levels are exact."""
    window = np.array([low] * before + [low + step] * after)
    assert date_shift(window) == (before, low, low + step)


@pytest.mark.parametrize("outliers", [{3: 900.0}, {3: 900.0, 17: -900.0, 33: 900.0}, {20: 900.0, 21: 900.0}])
def test_a_few_outliers_do_not_move_it(outliers: dict[int, float]) -> None:
    """Rows far off both levels are not taken for the change."""
    window = np.array([10.0] * 30 + [11.0] * 8)
    for row, value in outliers.items():
        window[row] = value
    assert date_shift(window) == (30, 10.0, 11.0)


def test_near_enough_in_noise() -> None:
    """A step of four standard deviations is dated to within one row in nine windows of ten."""
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(200):
        window = rng.normal(size=50)
        window[42:] += 4.0
        errors.append(abs(date_shift(window)[0] - 42))
    assert np.quantile(errors, 0.9) <= 1


def test_a_constant_window_has_equal_levels() -> None:
    """Where nothing changed the two levels say so."""
    offset, before, after = date_shift(np.full(20, 3.0))
    assert 0 < offset < 20
    assert before == after == 3.0


@pytest.mark.parametrize("window", [np.array([1.0]), np.array([1.0, np.nan, 2.0]), np.ones((4, 2))])
def test_what_cannot_be_dated_is_refused(window: np.ndarray) -> None:
    """Too few rows, absent rows and more than one series are refused."""
    with pytest.raises(ValueError, match="window"):
        date_shift(window)
