"""Progress that has stopped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.base import Alarm, watch
from detectors.stalled import Stalled


def _watch(ages: list[float], detector: Stalled | None = None) -> list[Alarm]:
    detector = detector or Stalled(factor=10.0, floor=100.0, first=1000.0)
    return watch(detector, detector.blank(1), np.array(ages)[:, None])


def _told(alarms: list[Alarm]) -> list[tuple[int, int, float, bool]]:
    return [(a.index, a.onset, a.after, a.over) for a in alarms]


STEPS = [0.0, 10.0, 20.0] * 5


@pytest.mark.parametrize(
    ("ages", "wanted"),
    [
        pytest.param(STEPS, [], id="steps of 20 s"),
        pytest.param([*STEPS, 0.0, 150.0, 199.0], [], id="a pause under ten times the usual"),
        pytest.param([*STEPS, 0.0, 150.0, 201.0], [(17, 15, 201.0, False)], id="a pause over ten times the usual"),
        pytest.param(
            [*STEPS, 0.0, 210.0, 300.0, 430.0, 500.0, 5.0],
            [(16, 15, 210.0, False), (18, 15, 430.0, False), (19, 15, 500.0, True)],
            id="revised when it has doubled, over at the next progress",
        ),
        pytest.param([*([0.0, 1.0] * 9), 0.0, 99.0, 101.0], [(20, 18, 101.0, False)], id="the floor of fast steps"),
        pytest.param([0.0] * 9 + [60.0, 120.0], [(10, 8, 120.0, False)], id="progress in every row"),
        pytest.param([0.0, 500.0, 999.0], [], id="start-up"),
        pytest.param([0.0, 500.0, 1001.0], [(2, 0, 1001.0, False)], id="start-up that does not end"),
        pytest.param([*STEPS, 0.0, *([90.0] * 500), 95.0], [], id="an age held still while a phase is allowed for"),
    ],
)
def test_pauses(ages: list[float], wanted: list[tuple[int, int, float, bool]]) -> None:
    """A pause alarms over ten times the usual, dated to the last progress."""
    assert _told(_watch(ages)) == wanted


def test_an_age_held_still_does_not_end_an_episode() -> None:
    """Two rows of the same moment are no progress."""
    assert _told(_watch([*STEPS, 0.0, 210.0, 210.0, 210.0])) == [(16, 15, 210.0, False)]


def test_a_stall_does_not_teach() -> None:
    """After a stall the usual time is what it was, so that the next one is found as soon."""
    alarms = _watch([*STEPS, *([0.0, 300.0] * 40)])
    assert len([a for a in alarms if not a.over]) == 40
    assert {a.before for a in alarms} == {20.0}


@given(st.lists(st.floats(1.0, 99.0), min_size=1, max_size=60))
def test_silent_while_no_pause_is_long(heights: list[float]) -> None:
    """Pauses under the floor never alarm, in whatever order they come."""
    assert _watch([age for height in heights for age in (0.0, height)]) == []


@pytest.mark.parametrize("parameter", ["factor", "floor", "first"])
def test_parameters_are_checked_when_built(parameter: str) -> None:
    """A parameter out of range is refused by name."""
    numbers = {"factor": 10.0, "floor": 60.0, "first": 60.0} | {parameter: 0.0}
    with pytest.raises(ValueError, match=parameter):
        Stalled(**numbers)


def test_a_negative_age_is_refused() -> None:
    """An age is never negative."""
    with pytest.raises(ValueError, match="negative"):
        _watch([-1.0])
