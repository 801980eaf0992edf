"""A notice as a CloudEvent that is small enough for every receiver of Standard Webhooks."""

from datetime import UTC, datetime
from urllib.parse import quote

from cloudevents.core.bindings.http import to_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from msgspec import Struct, structs

from playbooks.sinks.message import cut, message
from playbooks.sinks.notice import Notice
from schemas.codec import to_wire
from schemas.incident import Affected, Incident

MOST_BYTES = 20_000
"""Standard Webhooks asks for less than 20 kB."""
_TYPES = {"opened": "opened", "changed": "updated", "resolved": "resolved"}
_LISTS = ("ranks", "nodes", "gpus", "suspects", "causes", "evidence", "ruled_out", "blind", "detections", "actions")
_VICTIMS = ("ranks", "nodes", "jobs")
_TEXTS = ("title", "cause", "acknowledged_by")


class Size(Struct, frozen=True):
    """How much is kept: entries of each list, characters of each text."""

    entries: int
    characters: int


SIZES = (Size(10_000, 2_000), Size(64, 500), Size(16, 300), Size(4, 200), Size(0, 100))


def structured(notice: Notice) -> bytes:
    """Write a notice as one JSON document, attributes and data; it is shortened until it fits, and it says so."""
    body = b""
    for size in SIZES:
        body = _body(notice, size)
        if len(body) < MOST_BYTES:
            break
    return body


def event_type(notice: Notice) -> str:
    """Name what happened, in the words of the feed."""
    if notice.request is not None:
        return "io.trainmaster.action.requested"
    return f"io.trainmaster.incident.{_TYPES[notice.kind]}"


def shorten(incident: Incident, size: Size) -> tuple[Incident, dict[str, int]]:
    """Keep the first entries of each list, and say how many there were where some were left out."""
    kept, affected, taint = size.entries, incident.affected, incident.taint
    there = {name: len(getattr(incident, name)) for name in _LISTS}
    there |= {f"affected.{name}": len(getattr(affected, name)) for name in _VICTIMS}
    there |= {f"taint.{name}": len(getattr(taint, name)) if taint else 0 for name in ("checkpoints", "shards")}
    shorter = structs.replace(
        incident,
        **{name: getattr(incident, name)[:kept] for name in _LISTS},
        **{name: cut(getattr(incident, name), size.characters) for name in _TEXTS},
        affected=Affected(**{name: getattr(affected, name)[:kept] for name in _VICTIMS}),
        taint=structs.replace(taint, checkpoints=taint.checkpoints[:kept], shards=taint.shards[:kept])
        if taint
        else None,
    )
    return shorter, {name: number for name, number in there.items() if number > kept}


def _body(notice: Notice, size: Size) -> bytes:
    incident, left_out = shorten(notice.incident, size)
    told = message(notice)
    data = {
        "incident": to_wire(incident),
        "headline": cut(told.headline, size.characters),
        "lines": [cut(line, size.characters) for line in told.lines[: size.entries]],
        "link": told.link,
        **({"request": to_wire(notice.request)} if notice.request is not None else {}),
        **({"shortened": {"kept": size.entries, "of": left_out}} if left_out else {}),
    }
    event = CloudEvent(_attributes(notice), data)
    body: bytes = to_structured(event, JSONFormat()).body
    return body


def _attributes(notice: Notice) -> dict[str, str | datetime]:
    return {
        "id": notice.id,
        "source": f"trainmaster/{quote(notice.incident.cluster, safe='')}",
        "type": event_type(notice),
        "subject": notice.incident.id,
        "time": datetime.fromtimestamp(notice.incident.updated_time, UTC),
        "datacontenttype": "application/json",
    }
