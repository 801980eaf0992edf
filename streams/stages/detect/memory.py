"""What the detect stage remembers of an attempt: plain values and columnar arrays, so that a snapshot is one copy."""

from msgspec import Struct, field

from detectors.base import Floats
from detectors.checkpoint import CheckpointMemory
from detectors.counter_rate import CounterRateMemory
from detectors.creep import CreepMemory
from detectors.expected_work import ExpectedWorkMemory
from detectors.exposure import ExposureMemory
from detectors.level_shift import LevelShiftMemory
from detectors.nonfinite import NonFiniteMemory
from detectors.sawtooth import SawtoothMemory
from detectors.slow_rank import SlowRankMemory
from detectors.spike import SpikeMemory
from detectors.sustained import SustainedMemory
from detectors.trend import TrendMemory
from schemas.detection import Detection
from schemas.telemetry import SampleFrame
from streams.stages.detect.beside_saves import BesideSaves
from streams.stages.detect.by_right import ByRight
from streams.stages.detect.leap import Leap
from streams.stages.detect.node_pace import NodePace
from streams.stages.detect.node_word import NodeWord
from streams.stages.detect.open_steps import Alignment, Participants, Rewound
from streams.stages.detect.unheard import Unheard


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


class Supply(Struct):
    """What runs out, span by span: sums and counts of the readings of this span, shape (entities,)."""

    span: int = -1
    sums: Floats | None = None
    given: Floats | None = None
    trend: TrendMemory | None = None


class EntitySignal(Struct):
    """One signal over all entities of a kind: `counts` and `counter` per reporter, shape (reporters,), else per entity.

    Attributes:
        normal: healthy level over all entities as it was last told.
        dropped: it has to be told that nothing is known to be healthy any more.
    """

    level: LevelShiftMemory | None = None
    flag: SustainedMemory | None = None
    counter: CounterRateMemory | None = None
    supply: Supply | None = None
    counts: Floats | None = None
    count_times: Floats | None = None
    normal: float | None = None
    dropped: bool = False


class JobCount(Struct):
    """What the trainer counts in its frames: the last count of each rank, shape (ranks,), and what they came to."""

    last: Floats | None = None
    total: float = 0.0
    signal: EntitySignal = field(default_factory=EntitySignal)


class JobSeries(Struct):
    """The job's own signals as columns, and what each detector remembers of them.

    Attributes:
        normal: signal -> healthy level as it was last told.
        dropped: signals of which it has to be told that nothing is known to be healthy any more.
        creep: of the pace and the loads, by `creeping.COLUMNS`.
        tellers: signal of `marked` -> node whose frames bring it.
        rows: steps closed in this attempt.
        by_right: what the run itself changes.
    """

    names: list[str] = field(default_factory=list)
    level: LevelShiftMemory | None = None
    spiky: list[str] = field(default_factory=list)
    spike: SpikeMemory | None = None
    marked: list[str] = field(default_factory=list)
    tellers: dict[str, str] = field(default_factory=dict)
    nonfinite: NonFiniteMemory | None = None
    sustained: dict[str, SustainedMemory] = field(default_factory=dict)
    counts: dict[str, JobCount] = field(default_factory=dict)
    schedule: dict[str, tuple[float, int]] = field(default_factory=dict)
    normal: dict[str, float] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    creep: CreepMemory | None = None
    rows: int = 0
    by_right: ByRight = field(default_factory=ByRight)


class Mixture(Struct):
    """What the data of the attempt should be, signal -> share, and what they are."""

    recipe: dict[str, float] = field(default_factory=dict)
    memory: ExposureMemory | None = None
    bad: ExposureMemory | None = None


Points = list[tuple[float, float]]
"""Step and value, steps growing."""


class Announced(Struct):
    """What the launcher has announced.

    Attributes:
        loader_workers: of each rank; 0 = not known.
        schedule: signal -> its planned values, by step.
    """

    loader_workers: int = 0
    schedule: dict[str, Points] = field(default_factory=dict)


class Model(Struct):
    """What the model takes, as the launcher says: FLOPs per token, and one GPU's peak per second; 0 = not known."""

    flops_per_token: float = 0.0
    peak_flops: float = 0.0


class Peers(Struct):
    """What is known of every rank's own work: a slow average of it and of its parts, one array each, shape (ranks,)."""

    slow: SlowRankMemory | None = None
    expected: ExpectedWorkMemory | None = None
    parts: dict[str, Floats] = field(default_factory=dict)
    pace: NodePace = field(default_factory=NodePace)


class Saves(Struct):
    """Checkpoints of the attempt."""

    memory: CheckpointMemory | None = None
    begun: dict[int, float] = field(default_factory=dict)
    last_step: int = -1
    last_end: float = 0.0
    pause: float = 0.0
    beside: BesideSaves = field(default_factory=BesideSaves)


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
    """When each source was last heard.

    Attributes:
        early: places of those of whose silence an early word was given, and no other yet.
        vouched: Unix seconds at which the scheduler last called the job running.
        read: nodes that are read beside the steps they tell of, which stop with the job.
        words: of a cluster: node -> what was said of it.
        leap: of one source's clock, while nobody else has spoken since.
    """

    early: list[int] = field(default_factory=list)
    vouched: float = 0.0
    read: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    latest: list[float] = field(default_factory=list)
    checked: int = -1
    silence: SawtoothMemory | None = None
    words: dict[str, NodeWord] = field(default_factory=dict)
    leap: Leap | None = None


class Work(Struct):
    """One reading of how much busy GPUs get done: its level while the job trains, a slow average, and as last seen."""

    usual: float
    now: float = 0.0
    learned: int = 0


class Spinning(Struct):
    """Whether busy GPUs wait for each other: full use, and little done.

    Attributes:
        work: reading of the GPUs -> what is known of it.
        seen: nodes that have spoken of their GPUs while the job trained.
        nodes: node -> whether its GPUs spun when it last spoke; those that have spoken since the last step.
        idled: since the last step, a GPU was idle of a rank that had ended it.
    """

    work: dict[str, Work] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    nodes: dict[str, bool] = field(default_factory=dict)
    idled: bool = False


class Heritage(Struct):
    """What an attempt may take over from the one before, once its start tells that the configuration is the same."""

    fingerprint: str
    world_size: int
    series: JobSeries
    trained_before: int = -1


class Attempt(Struct):
    """Everything that dies with an attempt.

    Attributes:
        runs: how many of the same number there were before: a run that is started anew should have its own.
        through: Unix seconds at which the trainer said that it is done; None while steps come.
        longest: seconds of the longest pause that ended by itself and that nobody had announced.
        made_up: seconds of the longest standstill that turned out to be none, for its steps came later.
        spinning: how the GPUs draw power while they say that they are busy.
        unheard: whether they work although no step was told.
        heritage: kept while the start may still come, after the first frames.
        progress: Unix seconds of the last progress; None before the first step.
        age: seconds without progress that weigh, as last looked at: they only grow until there is progress.
        trained_before: the last step that an earlier attempt has trained: up to it, training is done again.
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
    mixture: Mixture = field(default_factory=Mixture)
    model: Model = field(default_factory=Model)
    announced: Announced = field(default_factory=Announced)
    trained_before: int = -1
    progress: float | None = None
    top_step: int = -1
    age: float = 0.0
    stalled: SawtoothMemory | None = None
    stall_checked: int = -1
    through: float | None = None
    longest: float = 0.0
    made_up: float = 0.0
    spinning: Spinning = field(default_factory=Spinning)
    unheard: Unheard = field(default_factory=Unheard)
    gpu_util: float | None = None
    total_steps: int = 0
    settled: float | None = None
    voices: Voices = field(default_factory=Voices)
    active: dict[str, Detection] = field(default_factory=dict)
    heritage: Heritage | None = None
    runs: int = 0
    rewound: Rewound = field(default_factory=Rewound)
