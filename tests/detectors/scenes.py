"""Scenes with known truth, and what each detector claims to find in them."""

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from detectors.base import AnyDetector, Floats
from detectors.change_point import ChangePoint
from detectors.checkpoint import Checkpoint
from detectors.continuity import Continuity
from detectors.counter_rate import CounterRate
from detectors.creep import Creep
from detectors.exposure import Exposure
from detectors.extreme import Extreme
from detectors.level_shift import LevelShift
from detectors.nonfinite import ABSENT, NAN, NonFinite
from detectors.periodic import Periodic
from detectors.silence import Silence
from detectors.slow_rank import SlowRank
from detectors.slow_step import SlowStep
from detectors.spike import Spike
from detectors.stalled import Stalled
from detectors.sustained import Sustained
from detectors.trend import Trend

Scene = tuple[Floats, set[tuple[int, int]]]
"""Rows of shape (rows, series), and the episodes in it as (series, onset)."""


def _noise(rows: int, width: int, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(rows, width))


def _shifts(seed: int, noise: float) -> Scene:
    rows = 10.0 + 10.0 * noise * _noise(400, 6, seed)
    rows[150:230, 1] *= 1.2
    rows[200:, 3] *= 0.7
    rows[::40, 2] *= 3.0
    rows[::2, 4] *= 1.2
    return rows, {(1, 150), (3, 200)}


def _spikes(seed: int, noise: float) -> Scene:
    rows = 2.0 + 6.0 * np.exp(-np.arange(500) / 60)[:, None] + noise * _noise(500, 4, seed)
    rows[300:304, 0] += 1.5
    rows[400, 2] = 0.0
    return rows, {(0, 300), (2, 400)}


def _slow(seed: int, noise: float) -> Scene:
    rows = 2.0 * (1 + noise * _noise(160, 12, seed))
    rows[60:, 7] *= 1.3
    rows[90:, 2] *= 1.5
    return rows, {(7, 60), (2, 90)}


def _hot(seed: int, noise: float) -> Scene:
    rows = 0.2 + noise * _noise(120, 4, seed)
    rows[40:60, 1] = 1.0
    rows[70:75, 2] = 1.0
    return rows, {(1, 40)}


def _broken(seed: int, noise: float) -> Scene:
    rows = np.zeros((200, 4))
    rows[120:150, 1] = ABSENT
    rows[60, 2] = NAN
    rows[:, 3] = np.where(np.arange(200) % 5 == 0, 0.0, ABSENT)
    return rows, {(1, 120), (2, 60)}


def _ages(seed: int, noise: float) -> Scene:
    rows = 5.0 * (np.arange(200)[:, None] % np.array([3, 4, 6, 5])) + noise * np.abs(_noise(200, 4, seed))
    rows[96:, 2] = 5.0 * np.arange(104)
    return rows, {(2, 96)}


def _saves(seed: int, noise: float) -> Scene:
    rows = np.column_stack((10.0 + noise * np.abs(_noise(60, 1, seed)[:, 0]), np.full(60, 900.0)))
    rows[30:40, 0] = 45.0
    return rows, {(0, 30)}


def _stalls(seed: int, noise: float) -> Scene:
    rows = (1.0 + 0.2 * (np.arange(400) % 2))[:, None] * (1 + noise * _noise(400, 4, seed))
    rows[159::160, 3] *= 2.5
    rows[333, 1] *= 2.0
    rows[260:262, 2] *= 3.0
    return rows, {(1, 333), (2, 260), (2, 261), (3, 159)}


def _steps(seed: int, noise: float) -> Scene:
    rows = 10.0 + 10.0 * noise * _noise(300, 4, seed)
    rows[150:, 1] += 5.0
    rows[200:260, 2] -= 4.0
    rows[::40, 3] *= 1.5
    return rows, {(1, 150), (2, 200), (2, 260)}


def _records(seed: int, noise: float) -> Scene:
    rows = np.sin(np.arange(500) / 5.0)[:, None] + noise * np.clip(_noise(500, 4, seed), -2, 2)
    rows[300, 0] += 3.0
    rows[350:450, 2] -= 4.0
    return rows, {(0, 300), (2, 350)}


def _counts(seed: int, noise: float) -> Scene:
    chance = np.random.default_rng(seed)
    grown = (chance.random((300, 4)) < 5 * noise).astype(np.float64)
    grown[:, 3] = 50.0
    grown[150:155, 0] += 40.0
    grown[200, 2] += 30.0
    rows = np.cumsum(grown, axis=0)
    rows[250:, 1] -= rows[250, 1]
    return rows, {(0, 150), (2, 200)}


def _cursors(seed: int, noise: float) -> Scene:
    stride = np.array([1.0, 512.0, 0.25, 8.0])
    rows = stride * (np.arange(200)[:, None] + noise * _noise(200, 4, seed))
    rows[100:, 1] -= 512.0 * 40
    rows[150:, 2] += 0.25 * 30
    return rows, {(1, 100), (2, 150)}


def _leaks(seed: int, noise: float) -> Scene:
    rows = 100.0 + 20.0 * noise * _noise(400, 4, seed)
    rows[:, 1] = 100.0 - 0.25 * np.arange(400) * 0.8 + 20.0 * noise * _noise(400, 1, seed)[:, 0]
    rows[:, 2] += 10.0 * (np.arange(400) % 40) / 40
    return rows, {(1, 9)}


def _creeping(seed: int, noise: float) -> Scene:
    rows = 10.0 + 10.0 * noise * _noise(600, 5, seed)
    rows[:, 1] *= 1.0 + 0.5 * np.clip((np.arange(600) - 300) / 200, 0.0, 1.0)
    rows[300:, 2] *= 1.2
    rows[:, 3] *= 1.0 + 0.015 * np.sin(np.arange(600) / 90)
    rows[:, 4] *= 1.0 + 0.0004 * np.arange(600)
    return rows, {(1, 300)}


def _periods(seed: int, noise: float) -> Scene:
    rows = 1.0 + noise * _noise(400, 4, seed)
    rows[100:300:5, 1] *= 2.0
    rows[::2, 2] *= 1.5
    rows[50::125, 3] *= 2.0
    return rows, {(1, 100)}


def _mixture(seed: int, noise: float) -> Scene:
    rows = np.array([0.5, 0.3, 0.15, 0.05]) + noise * _noise(500, 4, seed)
    rows[200:, 1] -= 0.1
    rows[300:400, 3] += 0.06
    return rows, {(1, 200), (3, 300)}


class Case(Struct, frozen=True):
    """A detector, a scene with known truth, and what it claims.

    Attributes:
        make: builds it.
        scene: takes a seed and a strength of noise.
        healthy: a value that is healthy when it never changes.
        scales: it finds the same in a * rows + b for these (a, b).
        thousandth: builds it for a unit a thousand times as small; None where it is the same one.
        unitless: True where readings are shares or marks, which have no other unit.
        dated: rows by which an onset may be off.
        ordered: True where the series mean different things, so that their order matters.
        alone: True where a series is judged without looking at the others.
    """

    make: Callable[[], AnyDetector]
    scene: Callable[[int, float], Scene]
    healthy: float
    scales: tuple[tuple[float, float], ...] = ()
    thousandth: Callable[[], AnyDetector] | None = None
    unitless: bool = False
    dated: int = 2
    ordered: bool = False
    alone: bool = True


CASES = {
    "level_shift": Case(LevelShift, _shifts, 7.0, scales=((4.0, 0.0), (0.001, 0.0), (-3.0, 0.0))),
    "level_shift, absolute": Case(
        lambda: LevelShift(worth=0.0, floor=0.0), _shifts, 7.0, scales=((4.0, 32.0), (0.001, -5.0), (-2.0, 1.0))
    ),
    "spike": Case(Spike, _spikes, 3.0, scales=((4.0, 0.0), (0.5, 0.0), (-3.0, 0.0))),
    "spike, absolute": Case(lambda: Spike(worth=0.0), _spikes, 3.0, scales=((4.0, 64.0), (0.25, -16.0))),
    "slow_step": Case(SlowStep, _stalls, 1.5, scales=((4.0, 0.0), (0.125, 0.0))),
    "change_point": Case(ChangePoint, _steps, 3.0, scales=((4.0, 32.0), (0.25, -8.0), (-2.0, 1.0))),
    "extreme": Case(lambda: Extreme(margin=0.2), _records, 3.0, scales=((4.0, 0.0), (-2.0, 0.0))),
    "counter_rate": Case(lambda: CounterRate(floor=10.0), _counts, 7.0, thousandth=lambda: CounterRate(floor=10_000.0)),
    "continuity": Case(Continuity, _cursors, 7.0, scales=((4.0, 0.0), (0.5, 32.0), (-1.0, 0.0))),
    "trend": Case(Trend, _leaks, 50.0, scales=((4.0, 0.0), (0.5, 0.0), (-1.0, 0.0))),
    "creep": Case(Creep, _creeping, 7.0, scales=((4.0, 0.0), (0.001, 0.0), (-3.0, 0.0)), dated=20),
    "exposure": Case(Exposure, _mixture, 0.25, unitless=True, dated=20),
    "periodic": Case(Periodic, _periods, 1.5, scales=((4.0, 0.0), (0.125, 0.0))),
    "slow_rank": Case(SlowRank, _slow, 1.5, scales=((4.0, 0.0), (0.001, 0.0)), alone=False),
    "sustained": Case(
        lambda: Sustained(limit=0.5, rows=10), _hot, 0.0, thousandth=lambda: Sustained(limit=500.0, rows=10)
    ),
    "nonfinite": Case(NonFinite, _broken, 0.0, unitless=True),
    "stalled": Case(
        lambda: Stalled(floor=60.0), _ages, 0.0, thousandth=lambda: Stalled(floor=60_000.0, first=3_600_000.0)
    ),
    "silence": Case(lambda: Silence(floor=60.0), _ages, 0.0, thousandth=lambda: Silence(floor=60_000.0), alone=False),
    "checkpoint": Case(Checkpoint, _saves, 12.0, thousandth=lambda: Checkpoint(limit_seconds=30_000.0), ordered=True),
}
