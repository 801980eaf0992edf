"""What the GPUs are used for, as numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.utilisation import effective_share, model_flops_utilisation


def test_twice_the_gpus_or_the_time_is_half_the_use() -> None:
    """It is work over what could have been done."""
    use = model_flops_utilisation(1e6, 2.0, 6e10, 64, 1e15)
    assert use == pytest.approx(0.46875)
    assert model_flops_utilisation(1e6, 4.0, 6e10, 64, 1e15) == pytest.approx(use / 2)
    assert model_flops_utilisation(1e6, 2.0, 6e10, 128, 1e15) == pytest.approx(use / 2)


@pytest.mark.parametrize(("name", "place"), [("tokens", 0), ("seconds", 1), ("flops_per_token", 2), ("peak_flops", 4)])
def test_numbers_that_make_no_sense_are_refused(name: str, place: int) -> None:
    """Nothing is divided by zero."""
    numbers = [1e6, 2.0, 6e10, 64, 1e15]
    numbers[place] = 0.0
    tokens, seconds, flops, gpus, peak = numbers
    with pytest.raises(ValueError, match=f"^{name}"):
        model_flops_utilisation(tokens, seconds, flops, int(gpus), peak)


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=20), st.floats(0.001, 1000.0))
def test_a_share_is_a_share(work: list[float], seconds: float) -> None:
    """Whatever ranks claim, it lies between nothing and all."""
    assert 0 <= effective_share(np.array(work), seconds) <= 1


def test_nobody_speaks() -> None:
    """Where no rank says how long it computed, nothing is known."""
    assert np.isnan(effective_share(np.array([np.nan, np.nan]), 1.0))
