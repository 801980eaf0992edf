"""Incidents of jobs and of their cluster know of each other: reported and linked through the log.

A job's line reports an incident to the key of its cluster when it is first told and when its cause has changed. The
cluster's line, when it has an incident that these belong to, tells the jobs so. A fault of a GPU that the cluster
follows already, because it was there before the job came, or while the GPU was idle, is not told again by the job.
"""

from collections.abc import Iterator

from playbooks.cause import Cause
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.stages.correlate.memory import LIVE, THINK_AGAIN, Case, CorrelateMemory
from streams.stages.stage import Sent

SOURCE = "correlate"
MOST_ENTITIES = 4
KEPT = 4096
SAME_FAULT_SECONDS = 900.0
"""A job's word on a GPU and the cluster's are one fault if they came so close to each other."""


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
        yield from _answer(memory, case, event, incident)


def _answer(memory: CorrelateMemory, case: Case, event: Event, incident: Incident) -> Iterator[Sent]:
    """Tell a job, once, that its incident or the fault of its GPU belongs to one of the cluster."""
    job = event.data.get("job")
    if not isinstance(job, str):
        return
    if event.event == "job.incident":
        theirs = about = str(event.data.get("incident"))
        word, data = "fleet.linked", {"incident": incident.id}
    elif event.event == "job.fault":
        about, theirs = event.subject, f"{job}|{event.subject}"
        word, data = "fleet.known", {"incident": incident.id, "code": str(event.data.get("code"))}
    else:
        return
    if theirs not in case.linked_jobs:
        case.linked_jobs = [*case.linked_jobs, theirs]
        yield _sent(memory, job, incident.onset_time, word, about, data)


def _link(memory: CorrelateMemory, event: Event) -> None:
    case = memory.cases.get(event.subject)
    if case is not None:
        case.linked, case.unread = str(event.data.get("incident") or ""), THINK_AGAIN


def hear(memory: CorrelateMemory, event: Event) -> None:
    """Take the cluster's word: an incident is part of its own, it follows the fault of a GPU, or it is the cluster."""
    if event.event == "fleet.linked":
        _link(memory, event)
        return
    if event.event == "fleet.known":
        known = (f"{event.subject}|{event.data.get('code')}", str(event.data.get("incident")))
        memory.followed = dict([*memory.followed.items(), known][-KEPT:])
        return
    for case in memory.cases.values():
        if case.state in LIVE:
            case.reported, case.unread = "", THINK_AGAIN


def is_told_by_job(memory: CorrelateMemory, event: Event) -> bool:
    """Tell whether a job has just told of this fault of a GPU: its incident is about it."""
    return event.event == "xid" and any(
        one.event == "job.fault"
        and (one.subject, one.data.get("code")) == (event.subject, event.data.get("code"))
        and abs(one.time - event.time) <= SAME_FAULT_SECONDS
        for one in memory.waiting_events
    )


def followed_by(memory: CorrelateMemory, case: Case, cause: Cause) -> str:
    """Give the incident of the cluster that tells of the same faults of the same GPUs, "" where there is none.

    Args:
        memory: of the job.
        case: that is about to be told; what was told as the job's own stays its own.
        cause: that leads.
    """
    if cause.blames != "gpu" or (case.told and not case.part_of):
        return ""
    faults = {f"{one.subject}|{one.data.get('code')}" for one in case.events if one.event == "xid"}
    theirs = {memory.followed.get(fault, "") for fault in faults}
    return theirs.pop() if len(theirs) == 1 else ""


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
