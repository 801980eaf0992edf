"""The best interval is the one at which nothing is gained by saving sooner or later."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.checkpoint_interval import best_interval, saving_cost


@given(
    pause=st.floats(1.0, 300.0), hours=st.floats(2.0, 500.0), storage=st.floats(0.0, 60.0), other=st.floats(0.2, 5.0)
)
def test_no_other_interval_costs_less(pause: float, hours: float, storage: float, other: float) -> None:
    """Whatever other interval is taken, the total is at least that of the best one."""
    rate = 1 / (3600 * hours)
    best = best_interval(pause, rate, storage)
    total = saving_cost(best, pause, rate, 600.0, storage).total
    assert total <= saving_cost(best * other, pause, rate, 600.0, storage).total + 1e-12


def test_the_parts_add_up() -> None:
    """Of an hour of training with a pause of a minute, one failure in ten hours and ten minutes to recover."""
    cost = saving_cost(3600.0, 60.0, 1 / 36000, recovery_seconds=600.0, storage_seconds=6.0)
    assert cost.paused == pytest.approx(60 / 3660)
    assert cost.lost == pytest.approx(0.05)
    assert cost.recovering == pytest.approx(600 / 36000)
    assert cost.storing == pytest.approx(6 / 3660)
    assert cost.total == pytest.approx(cost.paused + cost.lost + cost.recovering + cost.storing)


@pytest.mark.parametrize(("pause", "rate"), [(60.0, 0.0), (0.0, 0.1), (60.0, 0.1), (-1.0, 0.1)])
def test_where_there_is_no_best_interval(pause: float, rate: float) -> None:
    """No failures, a save that is free, or failures without end have no best interval."""
    with pytest.raises(ValueError, match=r"failures_per_second|pause_seconds"):
        best_interval(pause, rate)
