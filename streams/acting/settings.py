"""How the runner of actions works."""

from typing import Annotated

from msgspec import Meta, Struct

from playbooks.retry import Schedule

Positive = Annotated[float, Meta(gt=0)]


class ActSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the runner works.

    Attributes:
        holder: name under which it takes leases; no two runners of an installation share one.
        act: when to try again what acts on jobs and nodes.
        tell: when to try again what tells people and writes down.
        try_seconds: a try that takes longer is cut off.
        lease_seconds: how long a target stays taken after a crash; longer than any try.
        poll_seconds: how often to look for requests when nobody wakes the runner.
        at_once: tries that run at the same time.
    """

    holder: str = "act"
    act: Schedule = Schedule(tries=6, first=1.0, factor=3.0, longest=60.0, seconds=300.0)
    tell: Schedule = Schedule(tries=12, first=2.0, factor=3.0, longest=180.0, seconds=1800.0)
    try_seconds: Positive = 45.0
    lease_seconds: Positive = 60.0
    poll_seconds: Positive = 1.0
    at_once: Annotated[int, Meta(ge=1)] = 16

    def __post_init__(self) -> None:
        """Refuse a lease that could run out while its holder still acts."""
        if self.lease_seconds <= self.try_seconds:
            raise ValueError("lease_seconds: must be longer than try_seconds")
