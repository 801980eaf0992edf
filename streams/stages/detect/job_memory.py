"""The whole of what the detect stage remembers of one key: its attempt, its signs, and what it has seen."""

from msgspec import Struct, field

from streams.stages.detect.fleet import FleetMemory
from streams.stages.detect.memory import Attempt, Samples
from streams.stages.detect.repeats import Seen
from streams.stages.detect.signs.memory import Signs
from streams.stages.detect.whereabouts import Whereabouts


class Counters(Struct):
    """What became of the records of this key."""

    records: int = 0
    repeated: int = 0
    late: int = 0


class DetectMemory(Struct):
    """The whole of it, for one key.

    Attributes:
        idle: seconds without a record, up to a tick too many: when before the first tick the last came is not known.
        ticks: that came since the last record.
    """

    key: str
    cluster: str = "default"
    clock: float = 0.0
    idle: float = 0.0
    ticks: int = 0
    last_tick: float | None = None
    seen: dict[str, Seen] = field(default_factory=dict)
    attempt: Attempt | None = None
    samples: Samples = field(default_factory=Samples)
    counters: Counters = field(default_factory=Counters)
    signs: Signs = field(default_factory=Signs)
    fleet: FleetMemory = field(default_factory=FleetMemory)
    whereabouts: Whereabouts = field(default_factory=Whereabouts)
