"""A leak is found long before the end, and told from what only goes up and down."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.base import Alarm, Floats, watch
from detectors.trend import Trend

ROWS = 1500


def _raised(rows: NDArray[Any], limit: float = 0.0, horizon: int = 2000) -> list[Alarm]:
    detector = Trend(limit=limit, horizon=horizon)
    return [a for a in watch(detector, detector.blank(1), rows[:, None]) if not a.over]


def _noise(seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=ROWS)


def test_a_leak_says_when_it_ends() -> None:
    """Memory that shrinks by 0.05 a row in noise is found with the rows that are left, to 20 %."""
    rows = 100 - 0.05 * np.arange(ROWS) + 0.5 * _noise(1)
    found = _raised(rows)
    assert found[0].index < 300
    for alarm in found:
        assert alarm.numbers["rows_left"] == pytest.approx(rows[alarm.index] / 0.05, rel=0.2)


def test_a_leak_towards_an_upper_limit() -> None:
    """A disk that fills is found as well."""
    found = _raised(0.3 + 0.0005 * np.arange(1200), limit=1.0)
    assert found
    assert found[0].direction == 1


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        pytest.param("flat", 100 + _noise(2), id="flat noise"),
        pytest.param("away", 100 + 0.05 * np.arange(ROWS), id="a creep away from the limit"),
        pytest.param("saw", 60 + (np.arange(ROWS) % 60) / 2.0, id="a sawtooth"),
        pytest.param("jump", np.where(np.arange(ROWS) < 700, 100.0, 60.0) + _noise(3), id="one jump"),
        pytest.param("cache", 150 + 50 * np.exp(-np.arange(ROWS) / 200.0) + 0.1 * _noise(4), id="a cache that fills"),
        pytest.param(
            "late cache", 150 + 50 * np.exp(-np.maximum(np.arange(ROWS) - 400, 0) / 150.0), id="it fills later"
        ),
        pytest.param("slow", 100 - 0.001 * np.arange(ROWS), id="an end beyond the horizon"),
    ],
)
def test_silent_on_what_is_no_leak(name: str, rows: Floats) -> None:
    """Noise, jumps, sawteeth and what ends much later are no leak."""
    assert _raised(rows) == [], name


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("limit", np.inf), ("horizon", 0), ("block", 1), ("blocks", 3), ("agreed", 0.5), ("worth", 0.0)],
)
def test_parameters_are_checked_when_built(parameter: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        Trend(**{parameter: value})  # type: ignore[arg-type]
