"""What the detect stage remembers of the steps that are still coming in, and of who takes part in them."""

from msgspec import Struct, field

from schemas.telemetry import Event, Reading


class Seats(Struct):
    """The ranks that a node speaks of in its frames, and how far they have come.

    Attributes:
        places: of the ranks among the participants, as 64-bit integers side by side.
        step: the last one at which all of them had a reading.
    """

    ranks: list[int]
    places: bytes
    step: int


class Participants(Struct):
    """Who takes part in an attempt; all lists in the same order, one entry per rank.

    Attributes:
        last_steps: how far each rank has come, as far as `seats` does not know better.
        seats: of the nodes whose frames always speak of the same ranks.
        laid_out: who does the same work is known, or has been looked at.
    """

    ranks: list[int] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    gpus: list[str] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)
    last_steps: list[int] = field(default_factory=list)
    seats: dict[str, Seats] = field(default_factory=dict)
    laid_out: bool = False


class FrameSource(Struct):
    """How regularly a source delivers step frames."""

    last_step: int
    misses: int = 0
    every: int = 1


class StepPart(Struct):
    """What a frame leaves with its step.

    Attributes:
        node: whose frame it was.
        time: Unix seconds at the source.
        every: steps from one frame to the next of this source.
        signals: that its ranks were read for.
        places: of its ranks among the participants, as 64-bit integers side by side.
        readings: doubles side by side, signal by signal and in each rank by rank; NaN where there was none.
        job_values: signal -> reading of the job as a whole.
    """

    node: str
    time: float
    every: int
    signals: tuple[str, ...]
    places: bytes
    readings: bytes
    job_values: dict[str, Reading]


class OpenStep(Struct):
    """A step whose frames are still coming in; `opened` is the stream's clock at the first of them, Unix seconds."""

    step: int
    opened: float
    parts: list[StepPart] = field(default_factory=list)


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


class Rewound(Struct):
    """Steps that come again though they have been closed, as far as no other has closed since.

    Attributes:
        closed: how many steps had closed when the first of them came.
        step: the last of them; `steps`, how many different ones, in order.
        begun: Unix seconds of the first of them.
        moved: whether ranks among them have come from another node.
        start: `attempt.started` with the number that is known, after steps have closed.
    """

    closed: int = -1
    step: int = -1
    steps: int = 0
    begun: float = 0.0
    moved: bool = False
    start: Event | None = None
