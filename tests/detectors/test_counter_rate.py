"""A burst is told from the rate and the clusters a counter has always had."""

import numpy as np
import pytest

from detectors.base import Alarm, Floats, watch
from detectors.counter_rate import CounterRate


def _raised(growth: Floats, floor: float = 1.0) -> list[Alarm]:
    detector = CounterRate(floor=floor)
    readings = np.cumsum(growth)[:, None]
    return [a for a in watch(detector, detector.blank(1), readings) if not a.over]


def _chance(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("rate", [0.05, 1.0, 40.0])
def test_calm_at_any_rate(rate: float) -> None:
    """Counts that come by chance, rarely or often, raise nothing in 5,000 rows."""
    assert _raised(_chance(1).poisson(rate, 5000).astype(float)) == []


def test_clusters_are_usual_where_they_always_were() -> None:
    """A counter whose counts come in clusters alarms only when a cluster is greater than those before."""
    growth = np.where(_chance(2).random(3000) < 0.02, 30.0, 0.0)
    growth[2000] = 400.0
    assert [a.onset for a in _raised(growth) if a.index > 500] == [2000]


def test_the_first_error_ever_is_a_finding() -> None:
    """A counter that never moved alarms with its first growth of the floor, and not under it."""
    growth = np.zeros(200)
    growth[100] = 1.0
    assert [a.index for a in _raised(growth, floor=1.0)] == [100]
    assert _raised(growth, floor=2.0) == []


def test_a_reset_is_no_burst_and_hides_none() -> None:
    """A counter that begins again from 0 raises nothing; what it grows by afterwards counts in full."""
    readings = np.concatenate((1e6 + np.arange(100.0), np.arange(100.0)))
    readings[150:] += 500.0
    detector = CounterRate()
    found = watch(detector, detector.blank(1), readings[:, None])
    assert [a.index for a in found if not a.over] == [150]


def test_a_stale_reading_is_no_growth() -> None:
    """A source that repeats its last reading and then catches up raises no more than its usual growth allows."""
    readings = np.repeat(np.arange(0.0, 1000.0, 2.0), 2)
    detector = CounterRate()
    assert watch(detector, detector.blank(1), readings[:, None]) == []


def test_a_negative_count_is_refused() -> None:
    """A counter is never negative."""
    detector = CounterRate()
    with pytest.raises(ValueError, match="row"):
        detector.update(detector.blank(1), 0, np.array([-1.0]))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("floor", -1.0), ("window", 0), ("sure", 0.0), ("margin", 1.0), ("warmup", 4), ("calm", 4)],
)
def test_parameters_are_checked_when_built(parameter: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        CounterRate(**{parameter: value})  # type: ignore[arg-type]
