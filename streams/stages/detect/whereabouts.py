"""Which cluster a job belongs to whose records name none: the one that speaks of the same GPUs.

A GPU's UUID is the same wherever it is spoken of. A cluster's line tells the line of the cluster without a name which
GPUs are its own, a job without a cluster tells it where it runs, and what is said of one GPU by both gives the job its
cluster.
"""

from collections.abc import Iterator

from msgspec import Struct, field, structs

from schemas.telemetry import Event, SampleFrame, Telemetry
from streams.stages.stage import Sent

SOURCE = "whereabouts"
NAMELESS = "default"
"""The cluster of records that name none."""
SHORTEST = 8
"""An id with fewer characters, or a bus address, is not the same everywhere."""
OF_A_GPU = ("xid", "gpu.off_bus", "gpu.lost")
"""Events whose subject is a GPU."""
KEPT = 65_536
KEPT_FAULTS = 64


class Whereabouts(Struct):
    """What is known of who belongs where.

    Attributes:
        seq: number of the next report.
        cluster: of a job that does not name its own; "" until it is known.
        told: of a cluster with a name: its GPUs that it has told of.
        homes: of the nameless line: GPU -> cluster.
        placed: of the nameless line: GPU -> job that runs on it and has no cluster yet.
        faults: of a job without a cluster: what its cluster will want to hear.
    """

    seq: int = 0
    cluster: str = ""
    told: dict[str, None] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    placed: dict[str, str] = field(default_factory=dict)
    faults: list[Event] = field(default_factory=list)


def at_home(known: Whereabouts, record: Telemetry) -> Telemetry:
    """Give a record the cluster that its job was found to belong to, where it names none."""
    if not known.cluster or record.cluster != NAMELESS:
        return record
    return structs.replace(record, cluster=known.cluster)


def report(known: Whereabouts, key: str, record: Telemetry) -> Iterator[Sent]:
    """Tell the line without a name of GPUs, or, on that line, a job of its cluster.

    Args:
        known: of this line.
        key: of this line.
        record: that has just been taken.
    """
    if key == NAMELESS:
        if isinstance(record, Event) and record.event in ("job.placed", "cluster.gpus"):
            yield from _matched(known, record)
    elif record.cluster == key:
        new = [gpu for gpu in _gpus(record) if gpu not in known.told]
        if new:
            known.told = dict.fromkeys([*known.told, *new][-KEPT:])
            yield _sent(known, record, NAMELESS, "cluster.gpus", key, {"gpus": new})
    elif isinstance(record, Event):
        yield from _of_job(known, key, record)


def _of_job(known: Whereabouts, key: str, event: Event) -> Iterator[Sent]:
    """A job asks where it belongs when it starts, and hears it."""
    if event.event == "attempt.started" and event.cluster in (NAMELESS, known.cluster):
        gpus = _gpus(event)
        if gpus:
            yield _sent(known, event, NAMELESS, "job.placed", key, {"job": key, "gpus": gpus})
    elif event.event == "xid" and event.cluster == NAMELESS:
        known.faults = [*known.faults[1 - KEPT_FAULTS :], event]
    elif event.event == "cluster.found" and event.subject:
        known.cluster = event.subject
        for fault in known.faults:
            data = {"job": key, "attempt": fault.attempt, "code": fault.data.get("code"), "node": fault.node}
            yield _sent(known, fault, known.cluster, "job.fault", fault.subject, data)
        known.faults = []


def _matched(known: Whereabouts, event: Event) -> Iterator[Sent]:
    """Hold what clusters say they have against what jobs say they run on."""
    gpus = [gpu for gpu in _gpus(event) if gpu]
    if event.event == "cluster.gpus":
        known.homes = dict([*known.homes.items(), *((gpu, event.subject) for gpu in gpus)][-KEPT:])
        jobs = {known.placed[gpu]: event.subject for gpu in gpus if gpu in known.placed}
    else:
        known.placed = dict([*known.placed.items(), *((gpu, event.subject) for gpu in gpus)][-KEPT:])
        homes = {known.homes[gpu] for gpu in gpus if gpu in known.homes}
        jobs = {event.subject: homes.pop()} if len(homes) == 1 else {}
    for job, cluster in sorted(jobs.items()):
        known.placed = {gpu: other for gpu, other in known.placed.items() if other != job}
        yield _sent(known, event, job, "cluster.found", cluster, {"cluster": cluster})


def _gpus(record: Telemetry) -> list[str]:
    """The GPUs that a record speaks of, by ids that are the same everywhere."""
    named: list[object] = []
    if isinstance(record, SampleFrame):
        named = list(record.ids) if record.of == "gpu" else []
    elif isinstance(record, Event):
        places = record.data.get("placement")
        named = [place.get("gpu") for place in places if isinstance(place, dict)] if isinstance(places, list) else []
        given = record.data.get("gpus")
        named += given if isinstance(given, list) else []
        named += [record.subject] if record.event in OF_A_GPU else []
    texts = (one for one in named if isinstance(one, str) and len(one) >= SHORTEST and ":" not in one)
    return list(dict.fromkeys(texts))


def _sent(known: Whereabouts, source: Telemetry, to: str, word: str, subject: str, data: dict[str, object]) -> Sent:
    known.seq += 1
    told = Event(
        job=to,
        attempt=0,
        node=f"{SOURCE}/{source.job}",
        seq=known.seq,
        time=source.time,
        cluster=subject if word == "cluster.found" else to,
        event=word,
        subject=subject,
        data=data,
    )
    return Sent("telemetry", to, told)
