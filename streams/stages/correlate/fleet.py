"""Incidents of jobs and of their cluster know of each other: reported and linked through the log.

A job's line reports an incident to the key of its cluster when it is first told and when its cause has changed. The
cluster's line, when it has an incident that these belong to, tells the jobs so.
"""

from collections.abc import Iterator

from schemas.incident import Incident
from schemas.telemetry import Event
from streams.stages.correlate.memory import THINK_AGAIN, Case, CorrelateMemory
from streams.stages.stage import Sent

SOURCE = "correlate"
MOST_ENTITIES = 4


def report(memory: CorrelateMemory, case: Case, incident: Incident) -> Iterator[Sent]:
    """Tell the other line what concerns it.

    Args:
        memory: of this line.
        case: that has just been told.
        incident: as it was told.
    """
    if incident.attempt > 0 and memory.key != memory.cluster:
        said = f"{incident.cause}|{','.join(_entities(incident))}"
        if said != case.reported and incident.state == "open":
            case.reported = said
            data = {"job": memory.key, "incident": incident.id, "cause": incident.cause, "layer": incident.layer}
            for entity in _entities(incident) or ("",):
                yield _sent(memory, memory.cluster, incident.onset_time, "job.incident", entity, data)
        return
    for event in case.events:
        job, theirs = event.data.get("job"), str(event.data.get("incident"))
        if event.event == "job.incident" and isinstance(job, str) and theirs not in case.linked_jobs:
            case.linked_jobs = [*case.linked_jobs, theirs]
            yield _sent(memory, job, incident.onset_time, "fleet.linked", theirs, {"incident": incident.id})


def link(memory: CorrelateMemory, event: Event) -> None:
    """Take the cluster's word that an incident belongs to one of its own."""
    case = memory.cases.get(event.subject)
    if case is not None:
        case.linked, case.unread = str(event.data.get("incident") or ""), THINK_AGAIN


def _entities(incident: Incident) -> tuple[str, ...]:
    mounts = tuple(f"mount:{one.id}" for one in incident.suspects if one.kind == "mount")
    return (mounts or tuple(f"node:{node}" for node in incident.nodes))[:MOST_ENTITIES]


def _sent(memory: CorrelateMemory, to: str, time: float, word: str, subject: str, data: dict[str, str]) -> Sent:
    memory.reports += 1
    told = Event(
        job=to,
        attempt=0,
        node=f"{SOURCE}/{memory.key}",
        seq=memory.reports,
        time=time,
        cluster=memory.cluster,
        event=word,
        subject=subject,
        data=data,
    )
    return Sent("telemetry", to, told)
