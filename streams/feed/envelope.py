"""Records of the archive as CloudEvents 1.0: what a reader of the stream gets.

The cloudevents library fills a missing time from the clock, and then a replay would not give the same bytes; so the
seven fields are written here, and the tests read them with the library.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from schemas.action import Control, Request, Result, TaintRecord
from schemas.codec import from_wire, to_wire
from schemas.incident import Incident
from streams.stores.identity import identify
from streams.stores.store import Archive, Filed

Streamed = Incident | Request | Result | Control | TaintRecord
SOURCE = "/trainmaster/feed"
PREFIX = "io.trainmaster."
_RECORDS: dict[str, type[Streamed]] = {
    "incidents": Incident,
    "requests": Request,
    "results": Result,
    "control": Control,
    "taints": TaintRecord,
}
_WORDS = {
    "requests": "action.requested",
    "results": "action.finished",
    "control": "control.changed",
    "taints": "taint.marked",
}
STREAMED = tuple(_RECORDS)
"""Topics that the stream carries."""


class CloudEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The envelope on the wire.

    Attributes:
        id: derived from topic, identity and revision; unique within `source`.
        time: RFC 3339, the record's own time; None where the record has none.
    """

    specversion: str
    id: str
    source: str
    type: str
    subject: str
    datacontenttype: str
    time: str | None = None
    data: Any  # Any: a record as plain data


class Envelope(Struct, frozen=True):
    """One event of the stream.

    Attributes:
        sequence: its place in the archive; a reader resumes after it.
        job: the job it tells of.
        type: `io.trainmaster.incident.opened` and the like.
        event: the CloudEvent as JSON.
    """

    sequence: int
    job: str
    type: str
    event: str


def envelop(filed: Filed, archive: Archive) -> Envelope:
    """Wrap a filed record; the same record is always wrapped the same way."""
    record = from_wire(filed.raw, _RECORDS[filed.topic])
    what = PREFIX + (_incident_word(record, archive) if isinstance(record, Incident) else _WORDS[filed.topic])
    identity = identify(record)
    event = CloudEvent(
        specversion="1.0",
        id=f"{filed.topic}:{identity.id}:{identity.revision}",
        source=SOURCE,
        type=what,
        subject=identity.id,
        datacontenttype="application/json",
        time=_moment_of(record),
        data=to_wire(record),
    )
    return Envelope(filed.sequence, record.job, what, msgspec.json.encode(event).decode())


def _incident_word(incident: Incident, archive: Archive) -> str:
    """Say what a revision is beside the one before it: only a change of state opens, resolves or closes."""
    earlier = [one for one in archive.revisions(incident.id) if one.revision < incident.revision]
    if not earlier:
        return "incident.opened"
    if incident.state in {"resolved", "closed"} and incident.state != earlier[-1].state:
        return f"incident.{incident.state}"
    return "incident.updated"


def _moment_of(record: Streamed) -> str | None:
    if isinstance(record, Control):
        return None
    seconds = record.updated_time if isinstance(record, Incident) else record.time
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
