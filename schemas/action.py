"""What is decided and done: requests, results, the entries of an incident, and the control document of a trainer."""

from typing import Any, Literal

from msgspec import Struct, field

from schemas.telemetry import VERSION

Mode = Literal["observe", "ask", "act"]
Verdict = Literal["would_act", "asked", "act", "refused"]
Outcome = Literal["", "pending", "done", "failed", "refused", "rejected", "expired"]
Verification = Literal["", "waiting", "verified", "failed", "confounded", "no_data", "expired"]


class ActionEntry(Struct, frozen=True, kw_only=True):
    """What one matching playbook came to within an incident.

    Attributes:
        request: id of the request; the same id is the idempotency key of the action.
        target: whom it concerns: the job, a node, a step range.
        time: Unix seconds of the record that led to the decision.
        step: the step at that moment; for a trainer's setting the step at which it took effect.
        decision: what was decided.
        reason: why, one of `playbooks.reasons.Reason`.
        outcome: how the run of it ended.
        verification: whether the job recovered.
        detail: the numbers behind outcome and verification, for a person.
    """

    playbook: str
    action: str
    target: str
    time: float
    step: int | None = None
    mode: Mode
    decision: Verdict
    reason: str
    outcome: Outcome = ""
    verification: Verification = ""
    request: str = ""
    detail: str = ""


class Request(Struct, frozen=True, kw_only=True):
    """An action that shall be run once.

    Attributes:
        id: derived from incident, playbook, action, target and rung; the idempotency key.
        incident: id of the incident it serves.
        params: the action's own parameters, checked when the playbook was loaded.
        decision: `act` to run it now, `asked` to run it after a person approved.
        time: Unix seconds of the decision, in the time of the records.
        step: the step at that moment.
        expires: seconds after which it must not be run any more.
        reversible: whether the action can be undone.
        summary: what is going to happen and why, one sentence.
    """

    v: int = VERSION
    id: str
    incident: str
    job: str
    attempt: int
    cluster: str = "default"
    playbook: str
    action: str
    target: str
    params: dict[str, Any] = field(default_factory=dict)  # Any: each action declares its own parameters
    decision: Literal["act", "asked"]
    time: float
    step: int | None = None
    expires: float = 300.0
    reversible: bool = True
    summary: str = ""


class Result(Struct, frozen=True, kw_only=True):
    """How the run of a request ended.

    Attributes:
        outcome: done, failed, refused or expired.
        detail: what was done, or why not.
        tries: how often it was tried.
        time: Unix seconds, the runner's clock.
    """

    v: int = VERSION
    request: str
    incident: str
    job: str
    attempt: int
    action: str
    outcome: Outcome
    detail: str = ""
    tries: int = 1
    time: float


class Setting(Struct, frozen=True, kw_only=True):
    """One wish to a trainer: `loader.path` = `cache`, `checkpoint.defer_until_step` = 18600.

    Attributes:
        value: what the trainer shall use from its next step on.
        request: id of the request behind it, to be acknowledged.
    """

    value: str | int | float | bool
    request: str


class Control(Struct, frozen=True, kw_only=True):
    """The whole of what a trainer shall do differently; written as the control file, read by the hook at each step.

    Attributes:
        version: grows with every change; a hook applies only what is newer than what it has.
        settings: name -> setting; a name that is missing means the trainer's own way.
    """

    v: int = VERSION
    job: str
    attempt: int
    version: int
    settings: dict[str, Setting] = field(default_factory=dict)


class TaintRecord(Struct, frozen=True, kw_only=True):
    """One line of the ledger of contaminated steps, both ends included.

    Attributes:
        checkpoints: steps of checkpoints written inside.
        from_sample: where the sampler stood before the first step; None where that is not known; likewise `to_sample`.
        shards: of the data that loaders opened inside, the first of them; `shards_opened` says how many there were.
    """

    v: int = VERSION
    id: str
    job: str
    attempt: int
    from_step: int
    to_step: int
    reason: str
    incident: str
    confidence: float
    layer: str
    checkpoints: tuple[int, ...] = ()
    from_sample: int | None = None
    to_sample: int | None = None
    shards: tuple[str, ...] = ()
    shards_opened: int = 0
    time: float
