"""A playbook as a value: when it applies, the one thing it does, and how success is told."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from playbooks.cause import CauseLayer
from schemas.action import Mode
from schemas.incident import Severity, State

Positive = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Steps = Annotated[int, Meta(ge=1)]
PAUSE = "checkpoint_seconds"


class Limit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A condition on a number.

    Attributes:
        signal: of the job, as the vitals give it; held against the limit at every step.
        incident: a number of the incident: `gpu_hours_lost`, `steps` (from onset to now or end), `confidence`.
        above: the limit.
        steps: consecutive steps for which the signal has to be above it.
    """

    signal: str = ""
    incident: Literal["", "gpu_hours_lost", "steps", "confidence"] = ""
    above: float
    steps: Steps = 1

    def __post_init__(self) -> None:
        """Refuse a limit on nothing or on two things."""
        if bool(self.signal) == bool(self.incident):
            raise ValueError("one of signal and incident is expected")


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an incident has to look like; empty lists do not select.

    Attributes:
        causes: leading causes.
        layers: layers of the leading cause.
        severity: the least severity.
        states: states of the incident.
        confidence: the least belief in the leading cause.
        all: limits that have to hold, each at some step within the incident.
    """

    causes: tuple[str, ...] = ()
    layers: tuple[CauseLayer, ...] = ()
    severity: Severity = "warning"
    states: tuple[State, ...] = ("open", "acting")
    confidence: Share = 0.0
    all: tuple[Limit, ...] = ()


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often a playbook may act on one job before a person has to look."""

    actions: Steps = 3
    seconds: Positive = 86400.0


class Verify(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How success is told, on the job itself.

    Attributes:
        signal: what has to recover; its frozen baseline is the measure.
        at_least: share of the baseline that the lower confidence bound has to reach.
        below: with `checkpoint_seconds`: seconds a pause may last.
        skip_steps: steps after the effect that are left out: re-warming.
        steps: steps that are averaged.
        within_steps: steps after the effect in which it has to succeed.
        within_seconds: seconds after the request in which the effect has to be acknowledged.
    """

    signal: str = "tokens_per_second"
    at_least: Share = 0.9
    below: Positive | None = None
    skip_steps: Annotated[int, Meta(ge=0)] = 5
    steps: Annotated[int, Meta(ge=2)] = 20
    within_steps: Steps = 300
    within_seconds: Positive = 900.0

    def __post_init__(self) -> None:
        """Refuse a measure that nobody takes."""
        if (self.below is not None) != (self.signal == PAUSE):
            raise ValueError(f"below: goes with the signal {PAUSE} and with no other")


class Playbook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A policy: one file, one action.

    Attributes:
        playbook: its name, that of its file.
        summary: what it does and why, for a person.
        target: whom the action concerns: the job, or every blamed node.
        params: the action's parameters; the value `$occasion` stands for opened, changed or resolved.
        mode: observe says what would be done, ask waits for a person, act acts.
        cooldown: seconds before the same is done to the same target again.
        most_targets: more targets than this are left to a person.
        price: GPU seconds that have to be lost before it is worth it.
        fresh_seconds: data older than this are not acted on; 0 where old data are the very reason (a hang).
        steady_seconds: the same nodes have to be to blame for so long before anything is done to them.
        expires: seconds after which a request must not be run any more.
        verify: how success is told; None for actions that heal nothing.
        on_failure: the action that is run when verification fails, usually the one that undoes this one; "" for none.
        again: occasions on which the same is asked for once more: the incident got worse, or came to its end.
    """

    playbook: str
    summary: str
    when: When = When()
    action: str
    target: Literal["job", "nodes"] = "job"
    params: dict[str, Any] = field(default_factory=dict)  # Any: each action declares its own parameters
    mode: Mode = "observe"
    cooldown: Annotated[float, Meta(ge=0)] = 1800.0
    budget: Budget = Budget()
    most_targets: Steps = 1
    price: Annotated[float, Meta(ge=0)] = 0.0
    fresh_seconds: Annotated[float, Meta(ge=0)] = 120.0
    steady_seconds: Annotated[float, Meta(ge=0)] = 0.0
    expires: Positive = 600.0
    verify: Verify | None = None
    on_failure: str = ""
    again: tuple[Literal["changed", "resolved"], ...] = ()
