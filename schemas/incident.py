"""An incident: detections that have one cause, with its life cycle, its evidence and what was done about it."""

from typing import Literal

from msgspec import Struct

from schemas.action import ActionEntry
from schemas.telemetry import VERSION, Reading

State = Literal["open", "acting", "recovering", "resolved", "closed"]
Severity = Literal["info", "warning", "error", "critical"]
Status = Literal["established", "supported", "hypothesis", "unknown"]
Role = Literal["initiating", "cascade", "teardown", "unplaced"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error", "critical")


class Suspect(Struct, frozen=True, kw_only=True):
    """Somebody or something that may be the culprit.

    Attributes:
        kind: rank, node, gpu, mount, switch, job, software, configuration.
        id: its name.
        score: share of the evidence that points at it, 0..1.
    """

    kind: str
    id: str
    score: float


class Affected(Struct, frozen=True, kw_only=True):
    """The victims: who lost time because of it."""

    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


class Moved(Struct, frozen=True, kw_only=True):
    """One thing that moved the belief in a hypothesis, and by how much.

    Attributes:
        text: what was seen.
        weight: nats, above 0 for it and below against it.
    """

    text: str
    weight: float


class RankedCause(Struct, frozen=True, kw_only=True):
    """One hypothesis with its share of belief.

    Attributes:
        cause: name in the cause catalogue.
        score: probability-like share over all hypotheses, 0..1.
        weight: sum of the evidence weights, nats.
        prior: nats before anything was seen.
        moved: what moved it, the heaviest first; prior and these add up to `weight`.
    """

    cause: str
    score: float
    weight: float = 0.0
    prior: float = 0.0
    moved: tuple[Moved, ...] = ()


class Evidence(Struct, frozen=True, kw_only=True, rename={"speaks_for": "for"}):
    """One statement for or against the leading cause.

    Attributes:
        status: how well it stands.
        text: the statement with its numbers.
        layer: the layer it speaks of.
        speaks_for: True for, False against; called `for` on the wire, which Python keeps for itself.
        weight: how far it moved the leading cause, nats.
        source: id of the detection or event behind it, or "".
        role: what the thing it tells of was in the course of events.
        detector: which found it, "" for an event or a value; likewise `subject` and `version`.
        before: the healthy level it was held against, in the signal's unit; likewise `after` and `limit`.
        numbers: further figures.
        parameters: with which the detector looked.
    """

    status: Status
    text: str
    layer: str
    speaks_for: bool = True
    weight: float = 0.0
    source: str = ""
    role: Role = "unplaced"
    detector: str = ""
    subject: str = ""
    before: Reading = None
    after: Reading = None
    limit: Reading = None
    numbers: dict[str, float] = {}
    version: str = ""
    parameters: dict[str, float] = {}


class Basis(Struct, frozen=True, kw_only=True):
    """What an incident can be computed from again: `trainmaster evidence verify` does.

    Attributes:
        topic: where the records stand.
        key: of these records.
        until: Unix seconds up to which the job's clock had come.
        catalogue: id of the causes and priors that were weighed.
        detectors: id of the detectors with their parameters, of the lateness and the hold.
        records: records of this key that had been taken by then, each counted once: the offset in its log, which is the
            same whatever partition or journal holds it.
    """

    topic: str
    key: str
    until: float
    catalogue: str
    detectors: str = ""
    records: int = 0


class RuledOut(Struct, frozen=True, kw_only=True):
    """A cause that would have explained it, and the numbers that speak against it."""

    cause: str
    because: str


class Taint(Struct, frozen=True, kw_only=True):
    """A contaminated step range of the attempt, both ends included.

    Attributes:
        marked: True once the range stands in the ledger of contaminated steps.
        checkpoints: steps of checkpoints written inside the range.
        from_sample: where the sampler stood before the range; None where that is not known; likewise `to_sample`.
        to_sample: where it stood after the range.
        shards: of the data that loaders opened inside the range, the first of them.
        shards_opened: how many there were.
    """

    from_step: int
    to_step: int
    marked: bool = False
    checkpoints: tuple[int, ...] = ()
    from_sample: int | None = None
    to_sample: int | None = None
    shards: tuple[str, ...] = ()
    shards_opened: int = 0


class Incident(Struct, frozen=True, kw_only=True):
    """One revision of an incident. `(id, revision)` is unique; the highest revision is the present view.

    Attributes:
        onset_step: first step concerned of the initiating detection; None where nothing has steps.
        opened_time: Unix seconds of the record with which it was recognised.
        updated_time: Unix seconds of the record that led to this revision.
        ranks: the culprits; empty where nobody in particular is to blame. Likewise `nodes` and `gpus`.
        confidence: share of belief in the leading cause, 0..1.
        blind: what could not be seen, in sentences.
        gpu_hours_lost: GPU hours lost so far against the frozen baseline.
        linked: id of an earlier incident that this one repeats, or "".
        acknowledged_by: the person who took it, or "".
    """

    v: int = VERSION
    id: str
    revision: int
    job: str
    attempt: int
    cluster: str = "default"
    state: State
    severity: Severity
    title: str = ""
    cause: str
    layer: str
    confidence: float
    onset_step: int | None = None
    onset_time: float
    opened_time: float
    updated_time: float
    end_step: int | None = None
    end_time: float | None = None
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    affected: Affected = Affected()
    causes: tuple[RankedCause, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    blind: tuple[str, ...] = ()
    gpu_hours_lost: float = 0.0
    taint: Taint | None = None
    detections: tuple[str, ...] = ()
    actions: tuple[ActionEntry, ...] = ()
    linked: str = ""
    acknowledged_by: str = ""
    basis: Basis | None = None
