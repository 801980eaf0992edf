"""What goes back or jumps ahead is told in the strides it repeats or skips."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.base import Alarm, watch
from detectors.continuity import Continuity


def _raised(rows: NDArray[Any]) -> list[Alarm]:
    detector = Continuity()
    return [a for a in watch(detector, detector.blank(1), rows[:, None]) if not a.over]


def test_a_cursor_that_jumps_ahead() -> None:
    """Samples that were skipped are counted in strides."""
    cursor = 64.0 * np.arange(100)
    cursor[60:] += 64.0 * 25
    (alarm,) = _raised(cursor)
    assert (alarm.index, alarm.kind, alarm.numbers["strides"]) == (60, "ahead", 25.0)


def test_a_cursor_that_runs_down() -> None:
    """Where a series falls by nature, further down is ahead and up is back."""
    left = 1000.0 - 2.0 * np.arange(100)
    left[70:] += 40.0
    (alarm,) = _raised(left)
    assert (alarm.kind, alarm.direction, alarm.numbers["strides"]) == ("back", 1, 20.0)


def test_rows_that_are_missing_are_counted() -> None:
    """A cursor that goes on while nobody reports is in order."""
    cursor = 8.0 * np.arange(200)
    cursor[50:90] = np.nan
    assert _raised(cursor) == []


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_uneven_strides_are_in_order(noise: float) -> None:
    """Batches that differ by as much as a stride raise nothing."""
    rows = np.cumsum(100 * (1 + noise * np.random.default_rng(2).uniform(-1, 1, 2000)))
    assert _raised(rows) == []


@pytest.mark.parametrize(("parameter", "value"), [("strides", 1.0), ("warmup", 1)])
def test_parameters_are_checked_when_built(parameter: str, value: float) -> None:
    """A parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=f"^{parameter}:"):
        Continuity(**{parameter: value})  # type: ignore[arg-type]


def test_a_run_that_goes_on_from_its_checkpoint_is_in_order() -> None:
    """The keeper says where a run was resumed; from there on the same positions are expected again."""
    detector = Continuity()
    memory = detector.blank(1)
    cursor = np.arange(60, dtype=np.float64) * 512.0
    assert watch(detector, memory, cursor[:, None]) == []
    detector.go_on_from(memory, 39, cursor[39:40])
    assert watch(detector, memory, cursor[40:, None], 40) == []
    detector.go_on_from(memory, 39, cursor[39:40])
    [raised, over] = watch(detector, memory, cursor[:20, None], 40)
    assert (raised.kind, raised.numbers["strides"], over.over) == ("back", 40.0, True)
