"""A person's word on an incident that the line has forgotten: of a part that came back from repair weeks later."""

from collections.abc import Iterator

import msgspec
from msgspec import structs

from playbooks.cause import Cause
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.stages.correlate.memory import CorrelateMemory
from streams.stages.stage import Sent


def late_word(memory: CorrelateMemory, event: Event, causes: tuple[Cause, ...]) -> Iterator[Sent]:
    """Give the next revision of an incident that is not remembered, as the event brings it along in `data.incident`."""
    if event.event not in ("incident.acknowledged", "incident.closed") or event.subject in memory.cases:
        return
    seen = _brought(event)
    if seen is not None and (seen.id, seen.job) == (event.subject, memory.key):
        told = _closed(seen, event, causes) if event.event == "incident.closed" else seen
        yield Sent(
            "drafts",
            memory.key,
            structs.replace(
                told,
                revision=seen.revision + 1,
                acknowledged_by=seen.acknowledged_by or person(event),
                updated_time=max(seen.updated_time, event.time),
            ),
        )


def person(event: Event) -> str:
    """Who said it."""
    return str(event.data.get("by") or "somebody")


def _brought(event: Event) -> Incident | None:
    try:
        return msgspec.convert(event.data.get("incident"), Incident)
    except msgspec.ValidationError:
        return None


def _closed(seen: Incident, event: Event, causes: tuple[Cause, ...]) -> Incident:
    catalogue = {cause.cause: cause for cause in causes}
    named = catalogue.get(str(event.data.get("cause")))
    told = seen if named is None else _named(seen, named, catalogue.get(seen.cause))
    if event.data.get("legitimate"):
        told = structs.replace(told, severity="info", layer="none")
    return structs.replace(told, state="closed")


def _named(seen: Incident, named: Cause, before: Cause | None) -> Incident:
    """The title begins with that of the cause; what the job lost stands behind it and stays."""
    effect = seen.title[len(before.title) :] if before is not None and seen.title.startswith(before.title) else ""
    return structs.replace(seen, cause=named.cause, layer=named.layer, confidence=1.0, title=named.title + effect)
