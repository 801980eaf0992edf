"""A fixed limit, exceeded for long enough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.base import Alarm, watch
from detectors.sustained import Sustained

NAN = float("nan")


def _watch(detector: Sustained, readings: list[float]) -> list[Alarm]:
    return watch(detector, detector.blank(1), np.array(readings)[:, None])


@pytest.mark.parametrize(
    ("readings", "wanted"),
    [
        pytest.param([1, 9, 9, 9], [(3, 1, False)], id="three rows over the limit"),
        pytest.param([1, 9, 9, 1, 9, 9], [], id="one good row begins the count anew"),
        pytest.param([1, 5, 5, 5], [], id="the limit itself is good"),
        pytest.param([9, 9, NAN, NAN, 9], [(4, 0, False)], id="no reading neither breaks nor lengthens a streak"),
        pytest.param([9, 9, 9, 1, 9, 1, 1], [(2, 0, False), (4, 0, True)], id="a relapse before it is calm"),
        pytest.param(
            [9, 9, 9, 1, 1, 9, 9, 9], [(2, 0, False), (2, 0, True), (7, 5, False)], id="a second episode is another"
        ),
        pytest.param([9, 9, 9, 1, NAN, 1], [(2, 0, False), (2, 0, True)], id="calm rows may have a hole"),
    ],
)
def test_streaks(readings: list[float], wanted: list[tuple[int, int, bool]]) -> None:
    """An alarm comes with the third row over 5, is dated to the first, and ends after two good rows."""
    alarms = _watch(Sustained(limit=5.0, rows=3, calm=2), readings)
    assert [(a.index, a.onset, a.over) for a in alarms] == wanted


def test_below() -> None:
    """A limit may be one from below, such as free memory."""
    found = _watch(Sustained(limit=10.0, rows=2, above=False), [50.0, 8.0, 6.0])
    assert [(a.onset, a.before, a.after, a.direction) for a in found] == [(1, 50.0, 7.0, -1)]


def test_a_limit_for_each_series() -> None:
    """Each series is held to its own limit, and a width that does not fit is refused."""
    detector = Sustained(limit=np.array([1.0, 10.0]), rows=1)
    found = watch(detector, detector.blank(2), np.array([[5.0, 5.0]]))
    assert [(a.series, a.limit) for a in found] == [(0, 1.0)]
    with pytest.raises(ValueError, match="limit"):
        detector.blank(3)


def test_nothing_good_was_seen() -> None:
    """A series that was over its limit from the first row on has no level before."""
    assert np.isnan(_watch(Sustained(limit=1.0, rows=1), [2.0])[0].before)


@given(st.lists(st.booleans(), max_size=80), st.integers(1, 6))
def test_alarms_exactly_with_a_streak(flags: list[bool], rows: int) -> None:
    """Somebody is told if and only if some streak is long enough."""
    streaks = "".join("x" if flag else " " for flag in flags).split()
    alarms = _watch(Sustained(limit=0.5, rows=rows), [float(flag) for flag in flags])
    assert bool(alarms) == any(len(streak) >= rows for streak in streaks)


@pytest.mark.parametrize("parameters", [{"limit": NAN}, {"rows": 0}, {"calm": 0}])
def test_parameters_are_checked_when_built(parameters: dict[str, float]) -> None:
    """A parameter out of range is refused by name."""
    given_ = {"limit": 1.0, "rows": 2, "calm": 2} | parameters
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Sustained(limit=given_["limit"], rows=int(given_["rows"]), calm=int(given_["calm"]))
