"""Stalls are found at once, whatever the steps' pattern; what a job plans is learned."""

import numpy as np
import pytest

from detectors.base import Floats, watch
from detectors.slow_step import SlowStep


def _rows(count: int, noise: float = 0.01, seed: int = 1) -> Floats:
    return 0.06 * (1 + noise * np.random.default_rng(seed).normal(size=(count, 1)))


def _raised(rows: Floats, first: int = 0) -> list[int]:
    detector = SlowStep()
    return [a.index for a in watch(detector, detector.blank(rows.shape[1]), rows, first) if not a.over]


def test_a_stall_alarms_in_its_own_row() -> None:
    """One step of 1.3 times the usual is found in the row it happens, and nothing else is."""
    rows = _rows(600)
    rows[333] *= 1.3
    assert _raised(rows) == [333]


@pytest.mark.parametrize("every", [2, 3, 4])
def test_work_that_repeats_every_few_steps_is_a_pattern(every: int) -> None:
    """Optimiser work on every second to fourth step is silent, and a stall on top of either phase is found."""
    rows = _rows(600)
    rows[::every] *= 1.4
    rows[every * 77] *= 1.3
    rows[every * 90 + 1] *= 1.9
    assert [i for i in _raised(rows) if i > 60] == [every * 77, every * 90 + 1]


def test_a_plan_is_learned_from_its_second_distance() -> None:
    """What returns every 77 steps alarms no more from the third time on, and a stall between is still found."""
    rows = _rows(900)
    rows[41::77] *= 2.0
    rows[507] *= 2.0
    assert _raised(rows) == [41, 118, 507]


def test_a_stall_on_top_of_the_plan_is_found() -> None:
    """Where the planned step takes half as long again as it always did, there is an alarm."""
    rows = _rows(900)
    rows[41::77] *= 2.0
    rows[41 + 6 * 77] *= 1.5
    assert _raised(rows) == [41, 118, 41 + 6 * 77]


def test_round_numbers_are_planned_from_the_first() -> None:
    """An evaluation every 250 steps never alarms; on a clock that is off by seven it does until it is learned."""
    rows = _rows(2000)
    rows[::250] *= 2.0
    assert _raised(rows) == []
    assert len(_raised(rows, first=7)) == 2


def test_a_harmful_period_is_no_plan() -> None:
    """A loader that holds up every fifth step is not taken for a plan."""
    rows = _rows(600)
    rows[2::5] *= 2.2
    assert len(_raised(rows)) > 100


@pytest.mark.parametrize("noise", [0.001, 0.05, 0.2])
def test_calm_in_noise(noise: float) -> None:
    """Gaussian noise of up to 20 % raises no more than one alarm in 1,000 rows."""
    detector = SlowStep()
    rows = 1 + noise * np.random.default_rng(3).normal(size=(2000, 8))
    found = [a for a in watch(detector, detector.blank(8), rows) if not a.over]
    assert len(found) <= 16


@pytest.mark.parametrize(("parameter", "value"), [("ratio", 1.0), ("sigmas", 0.0), ("plain", 1.1), ("warmup", 3)])
def test_parameters_are_checked_when_built(parameter: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        SlowStep(**{parameter: value})  # type: ignore[arg-type]


def test_what_is_planned_may_wander_by_a_fiftieth() -> None:
    """Slow steps at the ends of shards, a few rows early or late, are a plan all the same."""
    rows = _rows(1000)
    rows[[188, 379, 566, 755, 944]] *= 2.0
    assert _raised(rows) == [188]


def test_a_planned_step_explains_one_step() -> None:
    """A second slow step right after a planned one is a stall, and so is one beside it."""
    rows = _rows(700)
    rows[[141, 282, 423, 424, 564, 569]] *= 2.0
    assert _raised(rows) == [141, 424, 569]


def test_stalls_in_a_burst_are_no_plan() -> None:
    """Stalls that come thickly have some distances in common by chance; all are told."""
    rows = _rows(1000)
    rows[[642, 715, 719, 796, 804]] *= 3.4
    assert _raised(rows) == [642, 715, 719, 796, 804]


def test_a_stall_right_after_a_planned_step_is_told_by_itself() -> None:
    """The row after a slow one is a stall of its own: who has announced the first still hears of the second."""
    rows = _rows(900)
    rows[507:509] *= 2.0
    assert _raised(rows) == [507, 508]


def test_another_level_is_no_endless_stall() -> None:
    """Where steps become slower for good, the first three rows are told as stalls and the rest is left to others."""
    rows = _rows(900)
    rows[513:] *= 1.5
    assert _raised(rows) == [513, 514, 515]
