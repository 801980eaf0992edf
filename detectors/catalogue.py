"""Every detector by name. A detector is one file and one line here."""

from collections.abc import Callable

from detectors.base import AnyDetector
from detectors.checkpoint import Checkpoint
from detectors.level_shift import LevelShift
from detectors.nonfinite import NonFinite
from detectors.silence import Silence
from detectors.slow_rank import SlowRank
from detectors.spike import Spike
from detectors.stalled import Stalled
from detectors.sustained import Sustained

DETECTORS: dict[str, Callable[[], AnyDetector]] = {
    "checkpoint": Checkpoint,
    "level_shift": LevelShift,
    "nonfinite": NonFinite,
    "silence": Silence,
    "slow_rank": SlowRank,
    "spike": Spike,
    "stalled": Stalled,
    "sustained": lambda: Sustained(limit=0.5, rows=10),  # a flag that has been up for ten rows
}
"""How to build each with its default parameters."""
