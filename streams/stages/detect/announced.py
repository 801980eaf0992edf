"""What the launcher has announced: the loader's workers, and what is planned to change, from which step on."""

import math
from bisect import bisect_right
from itertools import pairwise

import numpy as np

from schemas.telemetry import LARGEST, Event
from streams.stages.detect.memory import Announced, Attempt, Points

WORKERS = ("loader_workers", "num_workers", "dataloader_num_workers")
"""Fields of a configuration that say how many workers the loader of each rank has."""
STAGES = ("tokens", "batch_size", "sequence_length")
"""What keeps a value until the next point; the learning rate goes straight from point to point."""
RATE = "learning_rate"
MOST_POINTS = 2000
REACH = 3
"""Steps by which a log and a plan may count differently."""
APART = 0.1
"""Share of the planned value from which a value is another one."""
SAME = 0.01


def read(event: Event, before: Announced | None = None) -> Announced:
    """Read a start, or a change `field: [old, new]` of what was announced before; what makes no sense is left out."""
    data, said = event.data, before or Announced()
    config = data.get("config")
    fields = {**config, **data} if isinstance(config, dict) else data
    found = [_workers(_newest(fields[name])) for name in WORKERS if name in fields]
    schedule = dict(said.schedule)
    if "schedule" in data:
        given = _newest(data["schedule"])
        schedule = {name: _points(given.get(name)) for name in (*STAGES, RATE)} if isinstance(given, dict) else {}
    elif before is not None:  # what is changed by hand, or what people call legitimate, is not the planned value
        gone = (*data, RATE) if event.event == "incident.closed" else (*data,)
        schedule = {name: points for name, points in schedule.items() if name not in gone}
    return Announced(next(iter(found), said.loader_workers), {name: kept for name, kept in schedule.items() if kept})


def _newest(given: object) -> object:
    return given[1] if isinstance(given, list) and len(given) == 2 else given


def _workers(given: object) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 10_000 else 0


def _points(given: object) -> Points:
    """Take a list of [step, value], steps growing and values not negative; else nothing."""
    if not isinstance(given, list) or len(given) > MOST_POINTS:
        return []
    points = [(float(one[0]), float(one[1])) for one in given if _is_point(one)]
    sensible = len(points) == len(given) and all(one[0] < other[0] for one, other in pairwise(points))
    return points if sensible else []


def _is_point(given: object) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == 2
        and all(isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= LARGEST for one in given)
    )


def stage_begins(attempt: Attempt, step: int) -> bool:
    """Tell whether a planned stage has begun since the step that was closed before this one."""
    steps = attempt.moments.steps
    before = steps[-2] if len(steps) > 1 else step
    stages = (attempt.announced.schedule.get(name, []) for name in STAGES)
    return any(_moves(points, before, step) for points in stages if points)


def _moves(points: Points, before: int, step: int) -> bool:
    """Tell whether what keeps its value until the next point has another one than it had."""
    was, now = (points[max(bisect_right(points, (at, math.inf)) - 1, 0)][1] for at in (before, step))
    return abs(now - was) > SAME * was


def planned_rate(points: Points, step: int) -> tuple[float, float]:
    """Give the least and the largest learning rate that is planned within reach of a step.

    >>> planned_rate([(0.0, 0.0), (100.0, 100.0), (200.0, 0.0)], 50)
    (47.0, 53.0)
    """
    near = [float(step - REACH), float(step + REACH)]
    first, last = (bisect_right(points, (at, math.inf)) for at in near)
    around = points[max(first - 1, 0) : last + 1]
    values = np.interp(near, [at for at, _ in around], [value for _, value in around]).tolist()
    values += [value for _, value in points[first:last]]
    return min(values), max(values)


def off_plan(points: Points, step: int, rate: float, finest: float) -> bool:
    """Tell whether a learning rate is not the planned one.

    Args:
        finest: the least rate that was seen, or 0; half of it may be lost where a log rounds.
    """
    low, high = planned_rate(points, step)
    beyond = max(rate - high, low - rate)
    return beyond > max(APART * low if rate < low else APART * high, finest / 2)
