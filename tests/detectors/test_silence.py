"""Sources that have stopped speaking."""

import numpy as np
import pytest

from detectors.base import Alarm, Floats, watch
from detectors.silence import Silence

TICK = 5.0


def _ages(spoken: list[list[float]], until: float) -> Floats:
    """Turn moments at which sources speak into what a keeper sees at each tick."""
    ticks = np.arange(0.0, until, TICK)
    rows = np.full((ticks.size, len(spoken)), np.nan)
    for source, moments in enumerate(spoken):
        last = np.searchsorted(np.array(moments), ticks, side="right")
        heard = last > 0
        rows[heard, source] = ticks[heard] - np.array(moments)[last[heard] - 1]
    return rows


def _every(seconds: float, until: float, offset: float = 0.0) -> list[float]:
    return list(np.arange(offset, until, seconds))


def _watch(spoken: list[list[float]], until: float) -> list[Alarm]:
    detector = Silence(factor=5.0, floor=60.0)
    return watch(detector, detector.blank(len(spoken)), _ages(spoken, until))


def test_one_source_of_many() -> None:
    """One node that is silent among others is found alone, dated to its last word, and over when it speaks."""
    spoken = [_every(10.0, 900.0, offset) for offset in range(6)]
    spoken[3] = [*_every(10.0, 400.0, 3.0), *_every(10.0, 900.0, 603.0)]
    alarms = _watch(spoken, 900.0)
    assert [(a.series, a.kind, a.over) for a in alarms] == [(3, "some", False), (3, "some", True)]
    assert alarms[0].onset * TICK == pytest.approx(395.0, abs=TICK)
    assert 60 < alarms[0].after <= 60 + 2 * TICK


@pytest.mark.parametrize("left", [0, 1, 3])
def test_nearly_all_at_once(left: int) -> None:
    """When fewer than half of the sources speak on, each silent one is reported, and none as the only one."""
    spoken = [_every(10.0, 900.0 if source < left else 400.0, source) for source in range(10)]
    alarms = _watch(spoken, 900.0)
    assert sorted((a.series, a.kind) for a in alarms) == [(source, "all") for source in range(left, 10)]


def test_each_by_its_own_interval() -> None:
    """A source that speaks every minute is given five minutes, one that speaks every second the floor."""
    spoken = [_every(60.0, 600.0), _every(1.0, 600.0), _every(10.0, 2000.0), _every(10.0, 2000.0)]
    alarms = _watch(spoken, 2000.0)
    silent_for = {a.series: a.after for a in alarms}
    assert set(silent_for) == {0, 1}
    assert 60 < silent_for[1] <= 60 + 2 * TICK
    assert 270 < silent_for[0] <= 300 + 2 * TICK


def test_a_source_that_speaks_in_bursts() -> None:
    """Four words at once every five minutes are no reason to miss the source after one, once it is known."""
    bursts = [start + word * TICK for start in np.arange(0.0, 3000.0, 300.0) for word in range(4)]
    spoken = [bursts, _every(10.0, 3000.0), _every(10.0, 3000.0)]
    assert [a for a in _watch(spoken, 3000.0) if a.onset * TICK > 700] == []


def test_who_spoke_hardly_ever_is_not_missed() -> None:
    """A source that spoke twice has no interval yet."""
    assert _watch([[0.0, 30.0], _every(10.0, 900.0)], 900.0) == []


@pytest.mark.parametrize("parameter", ["factor", "floor"])
def test_parameters_are_checked_when_built(parameter: str) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=parameter):
        Silence(**({"factor": 5.0, "floor": 60.0} | {parameter: 0.0}))
