"""What the correlate stage remembers of one job."""

from msgspec import Struct, field

from playbooks.facts import Track
from schemas.detection import Detection
from schemas.incident import Severity, State
from schemas.telemetry import Event

LIVE = ("open", "recovering")
"""States in which a case takes up what belongs to it."""
THINK_AGAIN = 5
"""An incident is thought over when a member changes, and after so many vitals."""


class Superseded(Struct):
    """A revision of a finding that another one took the place of, and the stream's clock when it did."""

    detection: Detection
    time: float


class Case(Struct):
    """An incident in the making.

    Attributes:
        seed: id of the finding that opened it; the incident's id is derived from it.
        detections: members by id, each in its last revision.
        quiet_since: Unix seconds since when no member is active any more; None while one is.
        quiet_steps: steps closed since then, or since the last event.
        lost_seconds: seconds of the job lost against its normal pace.
        normals: healthy levels of the job's signals, frozen when the case was opened.
        normal_interval: seconds from step to step before the onset; None where it was not learned.
        severity: the highest it has had.
        told: the draft as it was last sent, without what changes at every step.
        told_lost: GPU seconds lost as they were last told.
        unread: vitals since the incident was last thought over.
        reported: cause and culprits as they were last reported to the cluster.
        linked_jobs: incidents of jobs that were told that they are part of this one.
        dead: the attempt has ended, so nothing of it will recover by itself.
        began_in: attempt of the finding that opened it.
        outlived: Unix seconds at which the next attempt after that began; None while none has.
        before: levels of the job's signals before the onset, frozen likewise; of those that were seen then.
        part_of: incident of the cluster that tells of the same fault; then this one is told as closed.
        moves_pace: it was opened for what a detector found in the job's or its machines' signals, not in the loss.
        overtaken_by: a later incident that goes on; what the job's signals show since then is not of this one alone.
        stood: where the signals stood when that one began.
        anew_time: Unix seconds since when they tell of this one again.
        effect: what the job lost, where no detector told of its pace.
        superseded: member -> its revision before the last one.
        gap: steps from the onset of the one that it repeats to its own, where that was not long ago; else 0.
        sampled_from: where the sampler stood before the onset; None until that is known.
    """

    id: str
    seed: str
    attempt: int
    onset_step: int | None
    onset_time: float
    opened_time: float
    detections: dict[str, Detection] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    state: State = "open"
    quiet_since: float | None = None
    quiet_steps: int = 0
    end_step: int | None = None
    end_time: float | None = None
    lost_seconds: float = 0.0
    normals: dict[str, float] = field(default_factory=dict)
    normal_interval: float | None = None
    linked: str = ""
    acknowledged_by: str = ""
    legitimate: bool = False
    named_cause: str = ""
    cause: str = ""
    severity: Severity = "info"
    told: bytes = b""
    told_lost: float = 0.0
    dead: bool = False
    unread: int = 0
    reported: str = ""
    linked_jobs: list[str] = field(default_factory=list)
    began_in: int = 0
    outlived: float | None = None
    before: dict[str, float] = field(default_factory=dict)
    part_of: str = ""
    moves_pace: bool = False
    overtaken_by: str = ""
    stood: dict[str, float] = field(default_factory=dict)
    anew_time: float = 0.0
    effect: str = ""
    superseded: dict[str, Superseded] = field(default_factory=dict)
    gap: int = 0
    sampled_from: int | None = None


class Opened(Struct):
    """Shards of the data that a loader opened for a step."""

    step: int
    shards: tuple[str, ...]


class Placement(Struct):
    """Where the ranks of one attempt ran: rank -> node, and rank -> GPU; and when it began, Unix seconds."""

    begun: float = 0.0
    nodes: dict[int, str] = field(default_factory=dict)
    gpus: dict[int, str] = field(default_factory=dict)


class CorrelateMemory(Struct):
    """The whole of it, for one key.

    Attributes:
        failed: the attempt has ended, and not as it should.
        heard: waiting finding -> the stream's clock when it was first heard of.
        placements: of the last attempts: an incident of an earlier one names machines as they were placed then.
        records: of this key that had been taken when the last vitals came.
        openings: of shards of the data, by this attempt, oldest first.
        followed: GPU and code of its fault -> incident of the cluster that follows it.
    """

    key: str
    cluster: str = "default"
    attempt: int = 0
    world_size: int = 0
    clock: float = 0.0
    step: int | None = None
    step_time: float | None = None
    ended: bool = False
    failed: bool = False
    placements: dict[int, Placement] = field(default_factory=dict)
    tracks: dict[str, Track] = field(default_factory=dict)
    waiting: dict[str, Detection] = field(default_factory=dict)
    waiting_events: list[Event] = field(default_factory=list)
    heard: dict[str, float] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    saves: list[int] = field(default_factory=list)
    openings: list[Opened] = field(default_factory=list)
    settle_at: float = 0.0
    reports: int = 0
    records: int = 0
    followed: dict[str, str] = field(default_factory=dict)

    def placement(self, attempt: int | None = None) -> Placement:
        """Where an attempt ran; of the present one, where none is given or it is not known any more."""
        here = self.placements.get(self.attempt) or Placement()
        return here if attempt is None else self.placements.get(attempt) or here
