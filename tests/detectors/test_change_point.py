"""Changes of level in a series of any kind; and what has never been before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.base import Floats, watch
from detectors.change_point import ChangePoint
from detectors.extreme import Extreme


def _onsets(rows: Floats) -> list[int]:
    detector = ChangePoint()
    return [a.onset for a in watch(detector, detector.blank(1), rows[:, None]) if not a.over]


def _noise(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=count)


def _is_found(at: int, height: float, seed: int) -> bool:
    """Whether a step is found within 20 rows and dated to within two."""
    rows = _noise(at + 20, seed)
    rows[at:] += height
    return any(abs(onset - at) <= 2 for onset in _onsets(rows))


@settings(max_examples=20, deadline=None)
@given(at=st.integers(60, 140), height=st.floats(8.0, 50.0), up=st.booleans(), seed=st.integers(0, 1000))
def test_a_step_is_found_and_dated(at: int, height: float, up: bool, seed: int) -> None:
    """A step of eight standard deviations or more is found, whatever the noise."""
    assert _is_found(at, height if up else -height, seed)


def test_most_smaller_steps_are_found_too() -> None:
    """Of steps of three standard deviations nine in ten are found; in the others the noise stands against it."""
    found = [_is_found(at, height, seed) for at in (60, 100, 140) for height in (3.0, -3.0) for seed in range(20)]
    assert sum(found) >= 0.9 * len(found)


def test_every_level_is_a_new_beginning() -> None:
    """Three changes in a row are three alarms, without anybody saying that they are legitimate."""
    rows = _noise(400, 5)
    for at, height in ((100, 6.0), (180, -9.0), (300, 5.0)):
        rows[at:] += height
    assert [round(onset, -1) for onset in _onsets(rows)] == [100, 180, 300]


def test_wandering_is_no_change() -> None:
    """Series in which each row resembles the one before hardly ever alarm."""
    found = 0
    for seed in range(20):
        rows = np.zeros(500)
        for index, kick in enumerate(_noise(500, seed)):
            rows[index] = 0.9 * rows[index - 1] + kick
        found += len(_onsets(rows))
    assert found <= 4


def test_a_slight_change_that_lasts_is_an_extreme() -> None:
    """A rise that no single row shows is found in the mean of the last rows."""
    rows = _noise(1500, 7)
    rows[1000:] += 1.0
    detector = Extreme()
    found = [a for a in watch(detector, detector.blank(1), rows[:, None]) if not a.over and a.index >= 1000]
    assert found
    assert found[0].index < 1080


def test_grades_follow_the_margin() -> None:
    """A row is graded 0 within the range, 0.5 at the margin, and an open episode is graded once."""
    detector = Extreme(margin=0.1, spans=(1,), warmup=10)
    memory = detector.blank(1)
    grades = []
    for index, value in enumerate([0.0, 1.0] * 10 + [1.1, 5.0, 5.0, 0.5]):
        detector.update(memory, index, np.array([value]))
        grades.append(float(detector.grade(memory)[0]))
    assert grades[:20] == [0.0] * 20
    assert grades[20] == pytest.approx(0.5)
    assert grades[22:] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("sure", 0.0),
        ("least", 1),
        ("warmup", 5),
        ("window", 7),
        ("longest", 100),
        ("worth", -0.1),
        ("floor", float("nan")),
    ],
)
def test_parameters_are_checked_when_built(parameter: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        ChangePoint(**{parameter: value})  # type: ignore[arg-type]
