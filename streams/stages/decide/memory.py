"""What the decide stage remembers of one job."""

from msgspec import Struct, field

from playbooks.guard import Past
from playbooks.verify import Trial
from schemas.action import ActionEntry, Request
from schemas.incident import Incident


class Entry(Struct):
    """One playbook and target within an incident: the decision, its request, and the trial of it."""

    shown: ActionEntry
    request: Request | None = None
    trial: Trial | None = None


class Book(Struct):
    """Everything about one incident.

    Attributes:
        draft: as the correlate stage sees it.
        entries: by playbook, target and occasion.
        revision: of the last incident sent.
        told: that incident as bytes, without revision and time.
        normal: healthy levels, frozen when the incident was first seen.
        severity: the highest that was told.
        blamed: the nodes to blame; `blamed_since`, Unix seconds, since when it has been these.
    """

    draft: Incident
    entries: dict[str, Entry] = field(default_factory=dict)
    revision: int = 0
    told: bytes = b""
    normal: dict[str, float] = field(default_factory=dict)
    severity: str = ""
    blamed: tuple[str, ...] = ()
    blamed_since: float = 0.0


class DecideMemory(Struct):
    """The whole of it, for one key."""

    key: str
    attempt: int = 0
    clock: float = 0.0
    step: int | None = None
    step_time: float = 0.0
    normal: dict[str, float] = field(default_factory=dict)
    streaks: dict[str, int] = field(default_factory=dict)
    held: dict[str, float] = field(default_factory=dict)
    saves: list[int] = field(default_factory=list)
    books: dict[str, Book] = field(default_factory=dict)
    past: list[Past] = field(default_factory=list)
