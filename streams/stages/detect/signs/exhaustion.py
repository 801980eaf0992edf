"""A node whose memory runs out at a steady pace: the slope is the signal, long before the last byte."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from schemas.wording import amount
from streams.stages.detect.samples import MOMENT_SECONDS, Moment
from streams.stages.detect.signs.sign import Scene, Seen, Sign

SIGNAL = "memory_available_bytes"
EVERY_SECONDS = 60.0
POINTS = 20
KEPT = 120
STEADY = 0.95
"""Share of the variance that a straight line has to explain."""
FALLEN = 0.05
"""Share of the first reading that has to be gone."""
SOON_SECONDS = 4 * 3600.0
"""Time to exhaustion from which it is told."""


class ExhaustionMemory(Struct):
    """One reading a minute per node, (time, bytes), oldest first; nodes that are told of, with their onset."""

    points: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)


class Exhaustion(Sign[ExhaustionMemory]):
    """Fit a line through the last minutes of every node; a steady fall that ends within hours is told."""

    name = "exhaustion"
    memory = ExhaustionMemory

    def moment(self, memory: ExhaustionMemory, scene: Scene, moment: Moment) -> Iterator[Seen]:
        """Take the readings of one moment."""
        row = moment.rows.get(SIGNAL)
        if moment.of != "node" or row is None:
            return
        time = moment.number * MOMENT_SECONDS
        for place in np.flatnonzero(np.isfinite(row)):
            node, _, _ = moment.entity(int(place))
            points = memory.points.setdefault(node, [])
            if not points or time - points[-1][0] >= EVERY_SECONDS:
                memory.points[node] = points = [*points[1 - KEPT :], (time, float(row[place]))]
                yield from self._judge(memory, scene, node, points)

    def _judge(
        self, memory: ExhaustionMemory, scene: Scene, node: str, points: list[tuple[float, float]]
    ) -> Iterator[Seen]:
        left = seconds_left(points[-POINTS:]) if len(points) >= POINTS else None
        if left is not None and left <= SOON_SECONDS and node not in memory.told:
            memory.told[node] = _begin(points)
            yield self._seen(memory, scene, node, points, left)
        elif node in memory.told and points[-1][1] > points[-POINTS:][0][1]:
            yield self._seen(memory, scene, node, points, None)
            del memory.told[node]

    def _seen(
        self, memory: ExhaustionMemory, scene: Scene, node: str, points: list[tuple[float, float]], left: float | None
    ) -> Seen:
        return Seen(
            sign=self.name,
            subject=f"node:{node}",
            onset_time=memory.told[node],
            onset_step=scene.step_at(memory.told[node]),
            nodes=(node,),
            before=max(value for _, value in points),
            after=points[-1][1],
            numbers={} if left is None else {"seconds_left": left},
            text=(
                f"memory of {node} falls steadily: {amount(SIGNAL, points[-1][1])} left"
                + ("" if left is None else f", gone in {amount('interval_seconds', left)}")
            ),
            over=left is None,
        )


def seconds_left(points: list[tuple[float, float]]) -> float | None:
    """Seconds until a steady fall reaches zero; None where it does not fall, or not steadily.

    >>> seconds_left([(60.0 * n, 100.0 - n) for n in range(20)])
    4860.0
    >>> seconds_left([(60.0 * n, 100.0 - n % 2) for n in range(20)]) is None
    True
    """
    times, values = np.array([t for t, _ in points]), np.array([v for _, v in points])
    times = times - times[0]
    scale = float(np.abs(values).max())
    if scale == 0 or values[0] - values[-1] < FALLEN * values[0]:
        return None
    slope, level = np.polyfit(times, values / scale, 1) * scale
    if slope >= 0:
        return None
    rest = (values - slope * times - level) / scale
    explained = 1.0 - float(np.var(rest)) / float(np.var(values / scale))
    return round(float(values[-1] / -slope), 3) if explained >= STEADY else None


def _begin(points: list[tuple[float, float]]) -> float:
    """When the fall began: the time of the highest reading."""
    return max(points, key=lambda point: (point[1], point[0]))[0]
