"""What the detect stage remembers of an attempt: plain values and columnar arrays, so that a snapshot is one copy."""

from msgspec import Struct, field

from detectors.base import Flags, Floats
from detectors.checkpoint import CheckpointMemory
from detectors.level_shift import LevelShiftMemory
from detectors.nonfinite import NonFiniteMemory
from detectors.sawtooth import SawtoothMemory
from detectors.slow_rank import SlowRankMemory
from detectors.spike import SpikeMemory
from detectors.sustained import SustainedMemory
from schemas.detection import Detection
from schemas.telemetry import SampleFrame, StepFrame


class Seen(Struct):
    """Sequence numbers of one source: a window below the highest."""

    top: int
    latest: float
    flags: Flags


class Seats(Struct):
    """The ranks that a node speaks of in its frames, their places, and the last step at which all had a reading."""

    ranks: list[int]
    places: list[int]
    step: int


class Participants(Struct):
    """Who takes part in an attempt; all lists in the same order, one entry per rank.

    Attributes:
        last_steps: how far each rank has come, as far as `seats` does not know better.
        seats: of the nodes whose frames always speak of the same ranks.
    """

    ranks: list[int] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    gpus: list[str] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)
    last_steps: list[int] = field(default_factory=list)
    seats: dict[str, Seats] = field(default_factory=dict)


class FrameSource(Struct):
    """How regularly a source delivers step frames."""

    last_step: int
    misses: int = 0
    every: int = 1


class OpenStep(Struct):
    """A step whose frames are still coming in; `opened` is the stream's clock at the first of them, Unix seconds."""

    step: int
    opened: float
    frames: list[StepFrame] = field(default_factory=list)


class Alignment(Struct):
    """Steps on their way to being closed, in order.

    Attributes:
        expected: sources that a step waits for.
    """

    open: dict[int, OpenStep] = field(default_factory=dict)
    sources: dict[str, FrameSource] = field(default_factory=dict)
    last_closed: int = -1
    last_time: float = 0.0
    closed: int = 0
    stride: int = 1
    expected: int = 0


class Phase(Struct):
    """A legitimate phase: open until its end, or until its budget is used up."""

    name: str
    begin: float
    end: float | None = None
    steps: int = 0


class Phases(Struct):
    """Phases that are open, and the last ones that ended."""

    open: dict[str, Phase] = field(default_factory=dict)
    ended: list[Phase] = field(default_factory=list)


class Moments(Struct):
    """When the last steps ended: arrays of the same length, oldest first."""

    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


class JobSeries(Struct):
    """The job's own signals as columns, and what each detector remembers of them.

    Attributes:
        normal: signal -> healthy level as it was last told.
        dropped: signals of which it has to be told that nothing is known to be healthy any more.
        tellers: signal of `marked` -> node whose frames bring it.
        rows: steps closed in this attempt.
    """

    names: list[str] = field(default_factory=list)
    level: LevelShiftMemory | None = None
    spiky: list[str] = field(default_factory=list)
    spike: SpikeMemory | None = None
    marked: list[str] = field(default_factory=list)
    tellers: dict[str, str] = field(default_factory=dict)
    nonfinite: NonFiniteMemory | None = None
    sustained: dict[str, SustainedMemory] = field(default_factory=dict)
    schedule: dict[str, tuple[float, int]] = field(default_factory=dict)
    normal: dict[str, float] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    rows: int = 0


class Peers(Struct):
    """What is known of every rank's own work: a slow average of it and of its parts, one array each, shape (ranks,)."""

    slow: SlowRankMemory | None = None
    parts: dict[str, Floats] = field(default_factory=dict)


class Saves(Struct):
    """Checkpoints of the attempt."""

    memory: CheckpointMemory | None = None
    begun: dict[int, float] = field(default_factory=dict)
    last_step: int = -1
    last_end: float = 0.0
    pause: float = 0.0


class EntitySignal(Struct):
    """One signal over all entities of a kind: `counts` per reporter, shape (reporters,), the rest per entity.

    Attributes:
        normal: healthy level over all entities as it was last told.
        dropped: it has to be told that nothing is known to be healthy any more.
    """

    level: LevelShiftMemory | None = None
    flag: SustainedMemory | None = None
    counts: Floats | None = None
    count_times: Floats | None = None
    normal: float | None = None
    dropped: bool = False


class Entities(Struct):
    """All entities of one kind, in order of their first appearance.

    A mount is one entity reported by many nodes; a GPU, a node, a NIC or a disk is reported by one.

    Attributes:
        reporters: (node, id) pairs as one word -> place; `entity` gives the entity of each place.
        names: the entities; `nodes` and `ranks` belong to them ("" and -1 where there are several or none).
    """

    reporters: dict[str, int] = field(default_factory=dict)
    entity: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    signals: dict[str, EntitySignal] = field(default_factory=dict)


class Samples(Struct):
    """Sample frames waiting for their moment to close, and the entities they speak of."""

    waiting: dict[int, list[SampleFrame]] = field(default_factory=dict)
    closed: int = -1
    kinds: dict[str, Entities] = field(default_factory=dict)


class Voices(Struct):
    """When each source was last heard."""

    names: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    latest: list[float] = field(default_factory=list)
    checked: int = -1
    silence: SawtoothMemory | None = None


class Spinning(Struct):
    """Whether busy GPUs wait for each other: full use at little power.

    Attributes:
        usual: watts of a busy GPU while the job trains, a slow average; None before one was learned.
        power: watts of a busy GPU when it was last seen.
        learned: samples it was learned from.
        nodes: node -> whether its GPUs spun when it last spoke; those that have spoken since the last step.
    """

    usual: float | None = None
    power: float = 0.0
    learned: int = 0
    nodes: dict[str, bool] = field(default_factory=dict)


class Heritage(Struct):
    """What an attempt may take over from the one before, once its start tells that the configuration is the same."""

    fingerprint: str
    world_size: int
    series: JobSeries


class Attempt(Struct):
    """Everything that dies with an attempt.

    Attributes:
        through: Unix seconds at which the trainer said that it is done; None while steps come.
        longest: seconds of the longest pause that ended by itself and that nobody had announced.
        spinning: how the GPUs draw power while they say that they are busy.
        heritage: kept while the start may still come, after the first frames.
        progress: Unix seconds of the last progress; None before the first step.
        age: seconds without progress that weigh, as last looked at: they only grow until there is progress.
        settled: Unix seconds at which the first steps, which teach nothing, had ended; None before.
    """

    number: int
    started: float | None = None
    ended: float | None = None
    world_size: int = 0
    fingerprint: str = ""
    participants: Participants = field(default_factory=Participants)
    alignment: Alignment = field(default_factory=Alignment)
    phases: Phases = field(default_factory=Phases)
    moments: Moments = field(default_factory=Moments)
    series: JobSeries = field(default_factory=JobSeries)
    peers: Peers = field(default_factory=Peers)
    saves: Saves = field(default_factory=Saves)
    progress: float | None = None
    top_step: int = -1
    age: float = 0.0
    stalled: SawtoothMemory | None = None
    stall_checked: int = -1
    through: float | None = None
    longest: float = 0.0
    spinning: Spinning = field(default_factory=Spinning)
    gpu_util: float | None = None
    total_steps: int = 0
    settled: float | None = None
    voices: Voices = field(default_factory=Voices)
    active: dict[str, Detection] = field(default_factory=dict)
    heritage: Heritage | None = None
