"""What the runtimes, the feed and the runner of actions may keep, by concern; each has one home per runtime.

Intake     telemetry on its way in              SQLite    Kafka
Journal    telemetry in arrival order, again    SQLite    Kafka, read by the workers
Snapshots  memory of each key with its offset   SQLite    Redis
Archive    what was said, for people to read    SQLite    the topics, and a copy of them in SQLite
Leases     who may act, once, and whether       SQLite    Redis
Numbers    counters that several agree on       SQLite    Redis
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from schemas.action import Control, Request, Result, TaintRecord
from schemas.dead import DeadLetter
from schemas.incident import Incident
from schemas.origin import Origin
from streams.stages.stage import Sent


class Entry(Struct, frozen=True):
    """One message of the journal: `raw` holds one record, `key` is its job."""

    offset: int
    key: str
    raw: bytes
    received: float


class StoreAway(ConnectionError):
    """A store does not answer; the same again later may do, and is harmless. The message holds no secret."""


class FencedOff(RuntimeError):
    """Somebody else has taken the target since; what we meant to do is no longer ours to do."""


class Intake(Protocol):
    """Telemetry on its way in; what was appended survives a crash."""

    def append(self, messages: Sequence[tuple[str, bytes]], received: float) -> int:
        """Append (key, raw) pairs; give the last offset.

        Raises:
            StoreAway: none or not all of them are there; appending them again is harmless.
        """
        ...


class Journal(Intake, Protocol):
    """Telemetry in arrival order."""

    def read(self, after: int, limit: int) -> list[Entry]:
        """Give entries with an offset above `after`, in order."""
        ...

    def trim(self, upto: int) -> None:
        """Forget entries up to and including an offset."""
        ...

    def last(self) -> int:
        """Give the highest offset so far, 0 when empty."""
        ...


class Snapshot(Struct, frozen=True):
    """Memory of one key, true after the entry at `offset`."""

    key: str
    offset: int
    data: bytes


class Snapshots(Protocol):
    """Memory of keys; a save with a smaller offset than the stored one is ignored."""

    def save(self, snapshots: Sequence[Snapshot]) -> None:
        """Keep the newest of each key; the last one is written only when all before it are."""
        ...

    def load(self, key: str) -> Snapshot | None:
        """Give the newest of a key."""
        ...

    def keys(self) -> list[str]:
        """List the keys that have one."""
        ...


class Filed(Struct, frozen=True):
    """A record of the archive with its place in the order of all records.

    Attributes:
        sequence: grows by one with every record; the cursor of the feed.
        topic: the stream it was sent to.
        raw: the record as JSON.
    """

    sequence: int
    topic: str
    raw: bytes


class IncidentQuery(Struct, frozen=True, kw_only=True):
    """Which incidents are wanted; empty fields do not select."""

    state: str = ""
    job: str = ""
    node: str = ""
    since: float = 0.0
    cursor: int = 0
    limit: int = 50


class Point(Struct, frozen=True):
    """Values of one job at one moment, as the vitals gave them.

    Attributes:
        step: the last closed step at that moment, or None.
        values: signal -> value, non-finite ones as None.
    """

    time: float
    step: int | None
    values: dict[str, float | None]


class JobSummary(Struct, frozen=True):
    """What is known of a job: its latest attempt, step and time."""

    job: str
    attempt: int
    step: int | None
    time: float
    open_incidents: int


class Archive(Protocol):
    """What was said, each record once by its identity, in one order that survives a restart."""

    def put(self, sent: Sequence[Sent], upto: int) -> None:
        """File records and note, in the same step, that everything up to a journal offset has been said."""
        ...

    def progress(self) -> int:
        """Give the journal offset up to which everything has been said."""
        ...

    def feed(self, after: int, limit: int, topics: Sequence[str]) -> list[Filed]:
        """Give records of those topics with a sequence above `after`, in order."""
        ...

    def last(self) -> int:
        """Give the highest sequence so far, 0 when empty."""
        ...

    def horizon(self) -> int:
        """Give the highest sequence that any reader can know of, whichever process told it; 0 when empty.

        Raises:
            StoreAway: nobody can tell.
        """
        ...

    def incidents(self, query: IncidentQuery) -> tuple[list[Incident], int]:
        """Give the latest revisions, newest change first, and the cursor of the next page (0: none)."""
        ...

    def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision of one incident."""
        ...

    def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision of one incident, oldest first."""
        ...

    def origins(self, topic: str, id_: str) -> dict[int, Origin]:
        """Give where a detection or an incident comes from, by its revision, as far as that is known."""
        ...

    def requests(self, incident_id: str = "") -> list[Request]:
        """Give all requests, or those of one incident, oldest first."""
        ...

    def request(self, request_id: str) -> Request | None:
        """Give one request."""
        ...

    def result(self, request_id: str) -> Result | None:
        """Give how a request ended, None while it has not."""
        ...

    def taints(self, job: str = "") -> list[TaintRecord]:
        """Give the ledger of contaminated steps."""
        ...

    def dead(self, limit: int = 100) -> list[DeadLetter]:
        """Give the newest records that could not be read."""
        ...

    def control(self, job: str) -> Control | None:
        """Give what a trainer shall do differently."""
        ...

    def jobs(self) -> list[JobSummary]:
        """Give the jobs seen, latest first."""
        ...

    def series(self, job: str, of: str, begin: float, end: float, points: int) -> list[Point]:
        """Give vitals of a job between two times, thinned to at most `points`; of a thinned group the extremes stay."""
        ...


class Lease(Struct, frozen=True):
    """The right to act on a target, with the number that fences off earlier holders."""

    target: str
    holder: str
    token: int


class Leases(Protocol):
    """Who may act, once; and whether anybody may."""

    def acquire(self, target: str, holder: str, now: float, seconds: float) -> Lease | None:
        """Take a target unless somebody else holds it; the token grows with every taking."""
        ...

    def release(self, lease: Lease) -> None:
        """Give a target back; without effect if the lease was lost."""
        ...

    def begin(self, key: str, lease: Lease) -> bool:
        """Note that work with this idempotency key starts; False when it is finished, or the lease is lost."""
        ...

    def finish(self, key: str, outcome: str) -> str:
        """Note that it is finished; give the outcome that stands, which is the first. `begin` then answers False."""
        ...

    def finish_under(self, key: str, outcome: str, lease: Lease) -> str | None:
        """Note likewise, but nothing if somebody else has taken the target since; None: no outcome stands yet."""
        ...

    def finish_unbegun(self, key: str, outcome: str) -> str | None:
        """Note likewise, but nothing if the work has begun; None: no outcome stands yet."""
        ...

    def finished(self, key: str) -> str | None:
        """Give the outcome noted for a key."""
        ...

    def stop(self, by: str, now: float) -> None:
        """Turn the kill switch on: no action runs until `go`."""
        ...

    def go(self) -> None:
        """Turn the kill switch off."""
        ...

    def stopped_by(self) -> str | None:
        """Give who turned the kill switch on; None when it is off."""
        ...


class Numbers(Protocol):
    """Counters that several processes agree on."""

    def following(self, name: str) -> int:
        """Give the next number of a counter; nobody gets the same one twice. The first is 1."""
        ...
