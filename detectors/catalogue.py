"""Every detector by name. A detector is one file and one line here."""

from collections.abc import Callable

from detectors.base import AnyDetector
from detectors.change_point import ChangePoint
from detectors.checkpoint import Checkpoint
from detectors.continuity import Continuity
from detectors.counter_rate import CounterRate
from detectors.creep import Creep
from detectors.exposure import Exposure
from detectors.extreme import Extreme
from detectors.level_shift import LevelShift
from detectors.nonfinite import NonFinite
from detectors.periodic import Periodic
from detectors.silence import Silence
from detectors.slow_rank import SlowRank
from detectors.slow_step import SlowStep
from detectors.spike import Spike
from detectors.stalled import Stalled
from detectors.sustained import Sustained
from detectors.trend import Trend

DETECTORS: dict[str, Callable[[], AnyDetector]] = {
    "change_point": ChangePoint,
    "checkpoint": Checkpoint,
    "continuity": Continuity,
    "counter_rate": CounterRate,
    "creep": Creep,
    "exposure": Exposure,
    "extreme": Extreme,
    "level_shift": LevelShift,
    "nonfinite": NonFinite,
    "periodic": Periodic,
    "silence": Silence,
    "slow_rank": SlowRank,
    "slow_step": SlowStep,
    "spike": Spike,
    "stalled": Stalled,
    "sustained": lambda: Sustained(limit=0.5, rows=10),  # a flag that has been up for ten rows
    "trend": Trend,
}
"""How to build each with its default parameters."""
