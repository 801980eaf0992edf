"""A cause as a value: a named explanation, and the clues that speak for it and against it."""

import re
from typing import Literal

from msgspec import Struct

from schemas.incident import Severity

Blames = Literal["nobody", "rank", "node", "gpu", "mount"]
CauseLayer = Literal[
    "data",
    "storage",
    "host",
    "checkpoint",
    "gpu",
    "interconnect",
    "network",
    "software",
    "model",
    "config",
    "scheduler",
    "monitoring",
    "none",
    "unknown",
]


class Clue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to look at. Exactly one of `moved`, `value`, `event` and `detector` says where.

    Attributes:
        moved: a signal that left its healthy level, see `direction`.
        value: a signal whose present value is held against `above` or `below`.
        event: an event of that name; `codes` selects by its data field `code`, or by `exit_code`.
        detector: a finding of that detector, if given on `signal`, explained by one of `parts`.
        direction: up or down; "" for either.
        or_above: with `moved`: it holds as well where the present value is above this, from the first step on.
        newly: with `value`: what was so before the onset as well says nothing, if it was seen then.
        since: with `moved` or `value`: what was last seen before the onset says nothing.
        text: with `event`: an expression that the event's text or error has to fit, case aside.
        whole_node: with `detector`: at least three quarters of the ranks of one node are concerned, or half and four.
        alone: with `detector`: fewer ranks than that.
        weight: nats the leading belief moves when it is so.
        otherwise: nats when it is known not to be so.
        needed: without it the cause is no candidate.
        opens: a finding like this is reason enough for an incident.
        blames: entities of this finding are the culprits.
    """

    moved: str = ""
    value: str = ""
    event: str = ""
    detector: str = ""
    direction: Literal["up", "down", ""] = ""
    above: float | None = None
    or_above: float | None = None
    newly: bool = False
    since: bool = False
    text: str = ""
    below: float | None = None
    codes: tuple[int, ...] = ()
    signal: str = ""
    parts: tuple[str, ...] = ()
    whole_node: bool = False
    alone: bool = False
    weight: float
    otherwise: float = 0.0
    needed: bool = False
    opens: bool = False
    blames: bool = False

    def __post_init__(self) -> None:
        """Refuse a clue that does not say where to look, or says it twice."""
        places = [name for name in ("moved", "value", "event", "detector") if getattr(self, name)]
        if len(places) != 1:
            raise ValueError(f"one of moved, value, event, detector is expected, found {', '.join(places) or 'none'}")
        if self.value and (self.above is None) == (self.below is None):
            raise ValueError(f"value {self.value}: one of above and below is expected")
        if self.text and not self.event:
            raise ValueError("text: goes with event")
        if self.newly and not self.value:
            raise ValueError("newly: goes with value")
        if self.since and not (self.moved or self.value):
            raise ValueError("since: goes with moved or value")
        if self.or_above is not None and not self.moved:
            raise ValueError("or_above: goes with moved")
        try:
            re.compile(self.text)
        except re.error as fault:
            raise ValueError(f"text: {fault}") from None


class Cause(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named explanation.

    Attributes:
        cause: its name, that of its file.
        title: what happened, for a person.
        layer: the part of the machine or job at fault.
        severity: of an incident it leads; `info` neither pages nor acts.
        blames: what kind of thing is the culprit.
        prior: nats before any clue is seen.
        clues: what speaks for and against it.
        cascade: signals that it moves along with it; `*` at the end stands for a family.
        teardown: events that follow it when the job goes down.
        blamed_share: least share of the blaming findings that has to name an entity for it to be the culprit.
        settles_seconds: how long it has to have been quiet until it is over; likewise `settles_steps`, in closed steps.
        settles_past: where the attempt failed it is not over either until its last step was trained again.
        considered: named among what was ruled out in every incident, whether or not it explains a finding.
        look_at: where a person looks next.
        playbooks: playbooks that help.
    """

    cause: str
    title: str
    layer: CauseLayer
    severity: Severity
    blames: Blames = "nobody"
    prior: float = 0.0
    clues: tuple[Clue, ...] = ()
    cascade: tuple[str, ...] = ()
    teardown: tuple[str, ...] = ()
    blamed_share: float = 0.0
    settles_seconds: float = 30.0
    settles_steps: int = 20
    settles_past: bool = False
    considered: bool = False
    look_at: tuple[str, ...] = ()
    playbooks: tuple[str, ...] = ()


def comes_back(cause: Cause) -> bool:
    """Tell whether what a cause does is known to pause and come back: then a pause is no end."""
    usual = Cause(cause="", title="", layer="none", severity="info")
    return (cause.settles_seconds, cause.settles_steps) > (usual.settles_seconds, usual.settles_steps)


UNKNOWN = "unknown"
"""Name of the cause that leads where no other is believed in enough; it has no weight of its own."""


def covers(patterns: tuple[str, ...], name: str) -> bool:
    """Tell whether a name is in a list in which `*` at the end stands for a family.

    >>> covers(("storage_*", "iowait"), "storage_latency_seconds"), covers(("iowait",), "iowait_x")
    (True, False)
    """
    return any(name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])) for pattern in patterns)
