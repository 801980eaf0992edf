"""What an operator bears, in rows and in the size of a change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.alarm_rate import Tail, fit_tail, rows_between


@pytest.mark.parametrize("wrong", [{"per_job_week": 0.0}, {"seconds_per_row": 0.0}, {"series": 0}], ids=str)
def test_a_rate_that_is_none_is_refused(wrong: dict[str, float]) -> None:
    """What is not more than nothing is refused by name."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        rows_between(**{"per_job_week": 1.0, "seconds_per_row": 1.0, "series": 1, **wrong})  # type: ignore[arg-type]


@given(st.integers(0, 100), st.floats(0.002, 0.02), st.sampled_from([1e4, 1e5]))
def test_a_tail_is_learned_back(seed: int, scale: float, rows: float) -> None:
    """From changes that follow the law, the worth at which one in so many rows remains is known within a fifth."""
    sizes = 0.005 + np.random.default_rng(seed).exponential(scale, 500)
    found, true = fit_tail(sizes, 0.005, 500_000), Tail(least=0.005, between=1000.0, scale=scale)
    assert found.worth(rows) == pytest.approx(true.worth(rows), rel=0.2)
    assert found.worth(10.0) == 0.005


def test_a_tail_needs_changes() -> None:
    """From fewer than five changes nothing is learned."""
    with pytest.raises(ValueError, match="sizes"):
        fit_tail(np.full(4, 0.01), 0.005, 1000)
    with pytest.raises(ValueError, match="rows"):
        fit_tail(np.full(5, 0.01), 0.005, 5)
