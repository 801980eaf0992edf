"""Shares that are not as planned, told from the chance of the draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Alarm, Floats, watch
from detectors.exposure import Exposure

BLOCK = 20


def _drawn(share: float, rows: int, seed: int) -> Floats:
    """Shares in batches of 256 samples."""
    return np.random.default_rng(seed).binomial(256, share, size=rows).astype(np.float64) / 256


def _raised(rows: Floats, recipe: float) -> list[Alarm]:
    detector = Exposure(recipe=recipe)
    return [a for a in watch(detector, detector.blank(1), rows[:, None]) if not a.over]


@settings(max_examples=25, deadline=None)
@given(st.floats(0.02, 0.98), st.integers(0, 10**6))
def test_draws_by_the_recipe_raise_nothing(share: float, seed: int) -> None:
    """Whatever the planned share, its own draws are no deviation."""
    assert _raised(_drawn(share, 600, seed), share) == []


@pytest.mark.parametrize("seed", range(10))
def test_a_fifth_too_little_is_found(seed: int) -> None:
    """Twenty-four of a hundred in place of thirty, within a hundred steps of its beginning."""
    rows = np.concatenate([_drawn(0.3, 300, seed), _drawn(0.24, 300, seed + 100)])
    [found] = _raised(rows, 0.3)
    assert abs(found.onset - 300) <= 40
    assert found.index <= 400
    assert (found.direction, found.before) == (-1, 0.3)


@pytest.mark.parametrize(("name", "value"), [("worth", 0.0), ("relative", -1.0), ("block", 1), ("sure", 0.0)])
def test_parameters_are_checked_when_built(name: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{name}:"):
        Exposure(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [200, 205, 210, 215, 219])
@pytest.mark.parametrize("after", [0.35, 0.7])
def test_a_change_within_a_block_is_dated_into_it(change: int, after: float) -> None:
    """The block's mean is off by the share of it that came after; who knows that block alone knows its beginning."""
    dice = np.random.default_rng(change)
    rows = np.where(np.arange(400) < change, 0.5, after) + 0.01 * dice.standard_normal(400)
    exposure = Exposure(recipe=0.5, block=BLOCK)
    memory = exposure.blank(1)
    found = [alarm for index, row in enumerate(rows) for alarm in exposure.update(memory, index, np.array([row]))]
    assert [alarm.over for alarm in found][:1] == [False]
    alone = found[0].index - change < BLOCK
    assert found[0].onset == change - change % BLOCK if alone else abs(found[0].onset - change) <= BLOCK // 4
    assert found[0].before == 0.5
