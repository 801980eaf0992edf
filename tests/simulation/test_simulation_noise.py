"""The background noise looks like real step times, and like nothing Gaussian."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.agents.simulation.noise import Noise
from streams.agents.simulation.step_time_residuals import RESIDUALS


def _drawn(count: int, seed: int = 1) -> np.ndarray:
    noise = Noise(np.random.default_rng(seed))
    return np.array([noise.factor("step", 0.003) for _ in range(count)]) - 1.0


def test_the_table_is_a_distribution() -> None:
    """The quantiles grow, have their median at zero and one spread on either side of it."""
    table = np.array(RESIDUALS)
    assert (np.diff(table) >= 0).all()
    assert table[len(table) // 2] == 0.0
    assert len(table) == 201


def test_noise_keeps_the_spread_that_was_asked_for() -> None:
    """The median absolute deviation of many draws is the spread, and their median is 1."""
    drawn = _drawn(20_000)
    assert np.median(np.abs(drawn - np.median(drawn))) == pytest.approx(0.003, rel=0.06)
    assert np.median(drawn) == pytest.approx(0.0, abs=0.0002)


def test_noise_is_skewed_and_heavy_tailed() -> None:
    """Late steps reach further than early ones, and far further than a Gaussian with the same spread would."""
    drawn = _drawn(20_000)
    sigma = 1.4826 * 0.003
    assert np.quantile(drawn, 0.99) > 1.5 * -np.quantile(drawn, 0.01)
    assert (np.abs(drawn) > 4 * sigma).mean() > 20 * 6.3e-5


def test_noise_is_autocorrelated() -> None:
    """A value says something about the next one, as in large real jobs."""
    drawn = _drawn(20_000)
    places = np.argsort(np.argsort(drawn)) / len(drawn)
    assert 0.1 < np.corrcoef(places[:-1], places[1:])[0, 1] < 0.4


@given(st.integers(0, 2**32 - 1), st.integers(1, 64), st.floats(0.0, 1.0))
def test_places_stay_in_the_distribution(seed: int, size: int, persistence: float) -> None:
    """Whatever is kept or drawn anew, a place in the distribution stays between 0 and 1."""
    noise = Noise(np.random.default_rng(seed))
    for _ in range(5):
        places = noise.places("chain", size, persistence)
        assert places.shape == (size,)
        assert ((places >= 0.0) & (places <= 1.0)).all()
