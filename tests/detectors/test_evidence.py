"""Whether a change is remarkable for a signal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.evidence import farthest_stretch, surprise, unlikely


@given(st.integers(0, 50), st.integers(50, 300), st.integers(1, 60))
def test_more_is_less_likely(known: int, of: int, out_of: int) -> None:
    """The more often something comes now, the less likely it is; what came as often before is no surprise."""
    told = [unlikely(known, of, now, out_of) for now in range(out_of + 1)]
    assert told == sorted(told)
    assert told[int(out_of * (known + 1) / (of + 2))] == 0


def test_the_bound_holds() -> None:
    """Chance is never more frequent than the figure says."""
    draws = np.random.default_rng(1).binomial(20, 0.2, size=200_000)
    for now in range(5, 13):
        assert (draws >= now).mean() <= np.exp(-unlikely(2_000_000, 10_000_000, now, 20)) * 1.01


@pytest.mark.parametrize(
    ("past", "least", "most"),
    [
        pytest.param(np.random.default_rng(0).normal(size=200), 12, 30, id="rows independent of each other"),
        pytest.param(np.repeat(np.random.default_rng(0).normal(size=20), 10), 0, 4, id="rows alike ten at a time"),
    ],
)
def test_rows_that_are_alike_count_for_fewer(past: np.ndarray, least: float, most: float) -> None:
    """Ten rows two deviations off are remarkable in noise, and not in a signal that wanders."""
    assert least < surprise(past, np.full(10, 2.0), 2.0) < most


def test_going_where_it_never_went_is_remarkable_for_any_signal() -> None:
    """A signal that wanders but never went nearly so far is believed at once."""
    past = np.repeat(np.random.default_rng(0).normal(size=20), 10)
    assert surprise(past, np.full(5, 20.0), 20.0) > 12


def test_farthest_stretch_is_a_median() -> None:
    """A lone spike is no stretch, two rows of three are."""
    assert farthest_stretch(np.array([0.0, 0.0, 9.0, 0.0, 0.0]), 3) == 0
    assert farthest_stretch(np.array([0.0, 8.0, 0.0, 9.0, 0.0]), 3) == 8
