"""Readings that are NaN, infinite or missing."""

import math

import numpy as np
import pytest

from detectors.base import Alarm, watch
from detectors.nonfinite import NonFinite, mark

THERE = [1.0] * 12
Readings = list[float | None]


def _watch(readings: Readings, patience: int = 3) -> list[Alarm]:
    detector = NonFinite(patience)
    return watch(detector, detector.blank(1), np.array([[mark(reading)] for reading in readings]))


@pytest.mark.parametrize(
    ("readings", "wanted"),
    [
        pytest.param([math.nan], [("nan", 0, 0, False)], id="the very first reading"),
        pytest.param([1.0, math.inf, 2.0], [("inf", 1, 1, False), ("inf", 1, 1, True)], id="infinite for one row"),
        pytest.param([1.0, -math.inf], [("-inf", 1, 1, False)], id="minus infinity"),
        pytest.param(
            [1.0, math.inf, math.nan, None, 2.0],
            [("inf", 1, 1, False), ("inf", 3, 1, True)],
            id="one episode, not three",
        ),
        pytest.param([*THERE, None, None], [], id="away for less than the patience"),
        pytest.param([*THERE, None, None, None], [("absent", 14, 12, False)], id="away for three rows"),
        pytest.param(
            [*THERE, None, None, None, None, 1.0],
            [("absent", 14, 12, False), ("absent", 15, 12, True)],
            id="away for four rows and back",
        ),
        pytest.param([None] * 50, [], id="never there"),
        pytest.param([*([1.0] * 9), *([None] * 50)], [], id="not there for long enough to be missed"),
        pytest.param([1.0, None, None, None, None] * 30, [], id="there in every fifth row"),
        pytest.param(
            [*([1.0, None, None, None, None] * 30), *([None] * 20)],
            [("absent", 160, 146, False)],
            id="there in every fifth row, then missing three times as long",
        ),
        pytest.param(
            [*THERE, math.nan, None, None, None], [("nan", 12, 12, False)], id="absence after NaN is the same"
        ),
    ],
)
def test_kinds(readings: Readings, wanted: list[tuple[str, int, int, bool]]) -> None:
    """What is not finite is named at once, what is missing when it is away for longer than it ever is."""
    assert [(a.kind, a.index, a.onset, a.over) for a in _watch(readings)] == wanted


def test_a_new_cadence_is_understood_after_a_few_alarms() -> None:
    """A series that now reports every tenth row only is not reported for ever."""
    alarms = _watch([*THERE, *(([None] * 9 + [1.0]) * 100)])
    raised = [a.index for a in alarms if not a.over]
    assert 1 <= len(raised) <= 3
    assert max(raised) < 50


def test_an_outage_does_not_hide_the_next_one() -> None:
    """After an absence of 500 rows the next is found within 20 rows, once the series was there for 100."""
    alarms = _watch([*THERE, *([None] * 500), *([1.0] * 100), *([None] * 20)])
    assert [a.over for a in alarms] == [False, True, False]


def test_the_number_of_rows_is_told() -> None:
    """The last alarm of an episode says how many of its rows were not finite."""
    assert _watch([1.0, math.nan, math.nan, None, 1.0])[-1].numbers == {"rows": 3.0}


@pytest.mark.parametrize("value", [-1.0, 0.5, 5.0, 2.5])
def test_values_are_no_marks(value: float) -> None:
    """A row of readings instead of marks is refused."""
    detector = NonFinite()
    with pytest.raises(ValueError, match="marks"):
        detector.update(detector.blank(1), 0, np.array([value]))


def test_patience_is_checked_when_built() -> None:
    """A patience of nothing is refused by name."""
    with pytest.raises(ValueError, match="patience"):
        NonFinite(0)
