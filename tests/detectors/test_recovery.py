"""A resumed run that is the one that failed, and one that is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Floats
from detectors.recovery import distance, equivalence

STEPS = np.arange(100, 300)


def _loss(seed: int, noise: float = 0.02) -> Floats:
    chance = np.random.default_rng(seed)
    return (2.0 + 2.0 * np.exp(-STEPS / 120.0)) * (1 + noise * chance.normal(size=STEPS.size))


@pytest.mark.parametrize("seed", range(20))
def test_the_same_run_with_other_batches_is_equal(seed: int) -> None:
    """Chance of the batches makes no difference, however steeply the loss falls."""
    found = equivalence(STEPS, _loss(seed), STEPS[100:124], _loss(seed + 1000)[100:124])
    assert found is not None
    assert found.paired
    assert found.equal


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_ten_percent_are_found_in_noise(seed: int, factor: float) -> None:
    """A loss that is off by a tenth is another run, higher or lower."""
    found = equivalence(STEPS, _loss(seed), STEPS[100:124], factor * _loss(seed + 1000)[100:124])
    assert found is not None
    assert not found.equal
    assert found.apart == pytest.approx(factor - 1, abs=0.03)


def test_the_same_data_show_three_percent() -> None:
    """Where batches come in the same order, their chance falls out."""
    loss = _loss(1, noise=0.2)
    found = equivalence(STEPS, loss, STEPS[50:74], 1.03 * loss[50:74])
    assert found is not None
    assert found.limit == 0.02
    assert not found.equal


def test_steps_that_are_new_are_held_against_the_last_ones() -> None:
    """A run that goes on where it stopped has no step twice; a level that jumps is seen all the same."""
    flat = 2.0 + 0.02 * np.random.default_rng(2).normal(size=200)
    for factor, equal in ((1.0, True), (1.1, False)):
        found = equivalence(STEPS[:150], flat[:150], STEPS[150:174], factor * flat[150:174])
        assert found is not None
        assert (found.paired, found.equal) == (False, equal)


@pytest.mark.parametrize(
    ("steps", "before", "resumed_steps", "resumed"),
    [
        pytest.param(STEPS[:5], _loss(1)[:5], STEPS[:5], _loss(2)[:5], id="too few"),
        pytest.param(STEPS, 4.0 - 0.01 * (STEPS - 100), STEPS + 200, np.full(200, 2.0), id="too steep a line"),
        pytest.param(STEPS, np.full(200, 2.0), STEPS + 900, np.full(200, 3.0), id="too long ago"),
        pytest.param(STEPS, np.full(200, np.nan), STEPS, np.full(200, 2.0), id="nothing known"),
    ],
)
def test_nothing_is_said_where_nothing_can_be(
    steps: Floats, before: Floats, resumed_steps: Floats, resumed: Floats
) -> None:
    """Silence where there is nothing to compare."""
    assert equivalence(steps.astype(np.int64), before, resumed_steps.astype(np.int64), resumed) is None


def test_a_run_that_had_blown_up_is_no_measure() -> None:
    """A roll-back behind a loss that ran away is meant to be another run."""
    loss = np.full(200, 2.0)
    loss[150:] = 5.0
    assert equivalence(STEPS, loss, STEPS[150:174], np.full(24, 2.0)) is None


@settings(max_examples=50)
@given(st.floats(0.001, 1000.0), st.integers(0, 10**6))
def test_unit_and_number_of_the_first_step_do_not_matter(unit: float, shift: int) -> None:
    """Another unit of the loss, and another count of steps, change nothing."""
    loss, other = _loss(3), _loss(4)
    plain = equivalence(STEPS, loss, STEPS[90:114], other[90:114])
    moved = equivalence(STEPS + shift, unit * loss, STEPS[90:114] + shift, unit * other[90:114])
    assert plain is not None
    assert moved is not None
    assert (moved.apart, moved.limit) == pytest.approx((plain.apart, plain.limit), rel=1e-6, abs=1e-9)


def test_distance_of_mixtures() -> None:
    """Nothing between equal mixtures, everything between those that share no source."""
    assert distance(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5, 0.0])) == 0.0
    assert distance(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1.0
