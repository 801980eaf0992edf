"""What a launcher announces, as the detect stage reads it."""

from typing import Any

import numpy as np
import pytest

from streams.stages.detect import announced
from streams.stages.detect.memory import Announced
from tests.stages.build import Job

POINTS = [[0, 0.0], [100, 3e-4]]
KEPT = [(0.0, 0.0), (100.0, 3e-4)]


def read(before: Announced | None = None, name: str = "attempt.started", **data: Any) -> Announced:  # Any: event data
    """Read one event."""
    return announced.read(Job().event(name, **data), before)


@pytest.mark.parametrize(
    "odd",
    [
        "cosine",
        [[0]],
        [[0, 1.0], [0, 2.0]],
        [[10, 1.0], [5, 2.0]],
        [[0, -1.0]],
        [[0, True]],
        [[0, "NaN"]],
        [[0, float("inf")]],
        [[step, 1.0] for step in range(announced.MOST_POINTS + 1)],
        {"0": 1.0},
    ],
)
def test_what_is_no_schedule_is_none(odd: Any) -> None:  # Any: what a launcher may say
    """A launcher's mistakes are left out, and the rest counts."""
    said = read(schedule={"learning_rate": odd, "batch_size": [[0, 8]], "unheard_of": POINTS})
    assert said.schedule == {"batch_size": [(0.0, 8.0)]}
    assert read(schedule=odd).schedule == {}


def test_a_change_replaces_what_it_names() -> None:
    """Another schedule replaces all of it; a value changed by hand, its own; a legitimate incident, the rate's."""
    before = read(schedule={"learning_rate": POINTS, "batch_size": [[0, 8]]}, config={"num_workers": 4})
    assert before == Announced(4, {"learning_rate": KEPT, "batch_size": [(0.0, 8.0)]})
    changed = read(before, "config.changed", schedule=[{}, {"learning_rate": POINTS}])
    assert changed == Announced(4, {"learning_rate": KEPT})
    assert read(before, "config.changed", batch_size=[8, 16]).schedule == {"learning_rate": KEPT}
    assert read(before, "config.changed", num_workers=[4, 6]).loader_workers == 6
    assert read(before, "incident.closed", legitimate=True).schedule == {"batch_size": [(0.0, 8.0)]}


@pytest.mark.parametrize(
    ("step", "rate", "finest", "off"),
    [
        (50, 1.5e-4, 0.0, False),
        (50, 1.25e-4, 0.0, True),
        (50, 1.75e-4, 0.0, True),
        (50, 1.25e-4, 1e-4, False),
        (2, 0.0, 0.0, False),
        (500, 3.2e-4, 0.0, False),
    ],
)
def test_a_rate_is_held_against_the_steps_near(step: int, rate: float, finest: float, off: bool) -> None:
    """A tenth beyond what is planned within three steps is off, but for half of the least rate that a log shows."""
    assert announced.off_plan(KEPT, step, rate, finest) is off


@pytest.mark.parametrize("step", range(60))
def test_the_planned_rate_is_the_line_between_points(step: int) -> None:
    """Least and largest are those of the whole line within reach, beyond its ends too."""
    points = [(7.0, 1.0), (12.0, 4.0), (13.0, 0.5), (30.0, 2.0), (44.0, 2.0)]
    reach = np.linspace(step - announced.REACH, step + announced.REACH, 601)
    line = np.interp(reach, [at for at, _ in points], [value for _, value in points])
    assert announced.planned_rate(points, step) == pytest.approx((line.min(), line.max()))
