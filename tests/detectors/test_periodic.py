"""A harmful period is named with its length; plans and patterns are not."""

import numpy as np
import pytest

from detectors.base import Alarm, Floats, watch
from detectors.periodic import Periodic


def _raised(rows: Floats) -> list[Alarm]:
    detector = Periodic()
    return [a for a in watch(detector, detector.blank(1), rows[:, None]) if not a.over]


def _rows(seed: int = 1) -> Floats:
    return 1 + 0.01 * np.random.default_rng(seed).normal(size=600)


@pytest.mark.parametrize("period", [5, 8, 13, 20])
def test_the_length_is_named(period: int) -> None:
    """Steps twice as long at a fixed distance are found once, with that distance and the time they cost."""
    rows = _rows()
    rows[200::period] *= 2.0
    (alarm,) = _raised(rows)
    assert alarm.onset == 200
    assert alarm.numbers["period"] == period
    assert alarm.numbers["lost"] == pytest.approx(1 / (period + 1), rel=0.05)


def test_another_period_is_a_revision() -> None:
    """Where the distance changes, the new one is told."""
    rows = _rows()
    rows[100:300:5] *= 2.0
    rows[300::10] *= 3.0
    assert [a.numbers["period"] for a in _raised(rows)] == [5, 10]


@pytest.mark.parametrize("period", [2, 4, 125])
def test_patterns_and_plans_are_silent(period: int) -> None:
    """Work on every second or fourth step is how the job works; an evaluation every 125 steps is cheap."""
    rows = _rows()
    rows[::period] *= 2.0
    assert _raised(rows) == []


def test_steps_that_are_missing_are_counted() -> None:
    """A missing row, the slow one itself included, makes no other period; one that is there and fast does."""
    rows = _rows()
    rows[200::8] *= 2.0
    holed = rows.copy()
    holed[[243, 304, 305, 360]] = np.nan
    assert [(a.onset, a.numbers["period"]) for a in _raised(holed)] == [(200, 8.0)]
    rows[304] /= 2.0
    assert [a.onset for a in _raised(rows)] == [200, 312]


def test_slow_steps_by_chance_have_no_period() -> None:
    """Stalls that come at random distances are none of this detector's business."""
    rows = _rows()
    rows[np.random.default_rng(4).random(600) < 0.1] *= 2.0
    assert _raised(rows) == []


@pytest.mark.parametrize(
    ("parameter", "value"), [("ratio", 1.0), ("worth", 0.0), ("shortest", 1), ("times", 3), ("window", 29)]
)
def test_parameters_are_checked_when_built(parameter: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        Periodic(**{parameter: value})  # type: ignore[arg-type]
