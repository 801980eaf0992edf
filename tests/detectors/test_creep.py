"""A slow ramp that begins on a level is found and dated; steps, waves and what has always been rising are not."""

from collections.abc import Callable

import numpy as np
import pytest

from detectors.base import Alarm, Floats, watch
from detectors.creep import Creep

ROWS = 1400
ONSET = 600


def raised(rows: Floats) -> list[Alarm]:
    """The alarms of one series, those that end something left out."""
    detector = Creep()
    return [alarm for alarm in watch(detector, detector.blank(1), rows[:, None]) if not alarm.over]


def noise(seed: int, strength: float = 0.01) -> Floats:
    """Healthy rows about 1 that wander a little."""
    fresh = np.random.default_rng(seed).standard_t(4, size=ROWS) * strength
    return np.asarray(1.0 + fresh + 0.3 * np.roll(fresh, 1))


def ramp(rise: float, rows: int) -> Floats:
    """Factors of a ramp that begins at `ONSET` and stays where it came to."""
    return np.asarray(1.0 + rise * np.clip((np.arange(ROWS) - ONSET) / rows, 0.0, 1.0))


@pytest.mark.parametrize(("rise", "rows"), [(0.12, 300), (0.08, 200), (0.20, 600), (-0.12, 300)])
@pytest.mark.parametrize("seed", range(5))
def test_a_ramp_is_dated_to_where_it_begins(rise: float, rows: int, seed: int) -> None:
    """It is found before it has come to its end, and dated to within thirty rows."""
    first = raised(noise(seed) * ramp(rise, rows))[0]
    assert first.index < ONSET + rows + 50
    assert abs(first.onset - ONSET) <= 30
    assert first.before == pytest.approx(1.0, abs=0.01)
    assert first.direction == np.sign(rise)


HEALTHY: dict[str, Callable[[Floats], Floats]] = {
    "noise": lambda rows: np.ones(rows.size),
    "a day": lambda rows: 1.0 + 0.02 * np.sin(2 * np.pi * rows / 1440),
    "a step": lambda rows: np.where(rows < ONSET, 1.0, 1.2),
    "rising from the first row on": lambda rows: 1.0 + 0.0004 * rows,
    "a warm-up": lambda rows: 1.0 + 0.5 * np.exp(-rows / 60),
    "machines that heat": lambda rows: 1.03 - 0.03 * np.exp(-rows / 150),
    "a slight rise": lambda rows: 1.0 + 0.04 * np.clip((rows - ONSET) / 300, 0.0, 1.0),
    "waves": lambda rows: 1.0 + 0.05 * np.sin(2 * np.pi * rows / 400),
}


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_no_ramp_is_silent(name: str, seed: int) -> None:
    """Noise, drift of the day, steps, warm-ups and what rises by plan from the start raise nothing."""
    assert raised(noise(seed) * HEALTHY[name](np.arange(ROWS, dtype=np.float64))) == []


def test_a_ramp_that_goes_back_is_over() -> None:
    """Its end is told when it is back half-way, and the next ramp needs a new level before it."""
    rows = noise(1) * ramp(0.12, 200)
    rows[1000:] /= 1.12
    alarms = watch(Creep(), Creep().blank(1), rows[:, None])
    assert [alarm.over for alarm in alarms][-1:] == [True]
    assert 1000 < alarms[-1].index < 1040


def test_a_load_that_moves_along_is_seen() -> None:
    """The change of another series since a row is told for the stage to judge."""
    detector = Creep()
    memory = detector.blank(2)
    rows = np.column_stack((noise(1), 100.0 * ramp(0.12, 300)))
    watch(detector, memory, rows)
    assert detector.moved(memory, 1, ONSET) == pytest.approx(0.12, abs=0.005)
    assert np.isnan(detector.moved(memory, 0, 0))
