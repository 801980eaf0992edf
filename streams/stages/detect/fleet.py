"""What a job tells its cluster, and what the cluster tells its jobs, as telemetry on the same log.

A job's line reports the faults of GPUs and the sum of each attempt to the key of its cluster; the cluster's line
compares jobs by placement, and tells a job what is known of the GPU that has just failed it. Such a report is an event
like any other: at least once, with a sequence number, so that a repetition changes nothing.
"""

import statistics
from collections.abc import Iterator

from msgspec import Struct, field, structs

from schemas.telemetry import Event, SampleFrame, as_count, is_finite
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.memory import Attempt
from streams.stages.detect.signs.repeat_offender import DAYS, FEWEST, KEPT
from streams.stages.stage import Sent

SOURCE = "fleet"
MEASURED = ("loss", "step_seconds", "nccl_bus_bytes_per_second")
POINTS = 2000
SMOOTH = 10


class FleetMemory(Struct):
    """Of a job: the values of the attempt so far. Of a cluster: the faults of each GPU, by code and job.

    Attributes:
        seq: number of the next report.
        values: measure -> values of the attempt.
        faults: GPU and code -> job -> Unix seconds.
    """

    seq: int = 0
    values: dict[str, list[float]] = field(default_factory=dict)
    faults: dict[str, dict[str, float]] = field(default_factory=dict)


def step(fleet: FleetMemory, closed: ClosedStep) -> None:
    """Note the values of a step."""
    for name in MEASURED:
        if name in closed.job:
            _note(fleet, name, closed.job[name])


def sample(fleet: FleetMemory, frame: SampleFrame) -> None:
    """Note what was measured over the whole job."""
    for name in MEASURED if frame.of == "job" else ():
        for value in frame.values.get(name, ()):
            if value is not None and is_finite(value):
                _note(fleet, name, float(value))


def report(fleet: FleetMemory, key: str, attempt: Attempt, event: Event) -> Iterator[Sent]:
    """Tell the other line what concerns it.

    Args:
        fleet: of this line.
        key: of this line: a job, or a cluster where the event belongs to no job.
        attempt: that runs.
        event: that has just been taken.
    """
    if event.event == "job.fault" and event.attempt == 0:
        yield from _repeated(fleet, key, event)
    elif event.event == "cluster.found" and attempt.ended is None:
        yield from _running(fleet, key, attempt, event)
    elif event.attempt > 0 and key != event.cluster:
        yield from _of_job(fleet, key, attempt, event)


def _of_job(fleet: FleetMemory, key: str, attempt: Attempt, event: Event) -> Iterator[Sent]:
    if event.event == "attempt.started":
        fleet.values = {}
        yield from _running(fleet, key, attempt, event)
    elif event.event == "xid" and event.subject:
        code = as_count(event.data.get("code"))
        yield _sent(fleet, key, event, event.cluster, 0, "job.fault", event.subject, {"code": code, "node": event.node})
    elif event.event == "attempt.ended":
        summary = {
            "kind": f"{attempt.fingerprint}/{attempt.world_size}",
            "reason": event.data.get("reason"),
            "started": attempt.started,
            "nodes": sorted(set(attempt.participants.nodes) - {""}),
            "values": summed(fleet.values),
        }
        yield _sent(fleet, key, event, event.cluster, 0, "job.summary", key, summary)


def _running(fleet: FleetMemory, key: str, attempt: Attempt, event: Event) -> Iterator[Sent]:
    """Tell the cluster which of its nodes a job has: from now on they are heard as the job's."""
    nodes = sorted(set(attempt.participants.nodes) - {""})
    if nodes and key != event.cluster:
        began = structs.replace(event, time=event.time if attempt.started is None else attempt.started)
        data: dict[str, object] = {"attempt": attempt.number, "nodes": nodes}
        yield _sent(fleet, key, began, event.cluster, 0, "job.running", key, data)


def summed(values: dict[str, list[float]]) -> dict[str, float]:
    """What the values of an attempt come to: medians, and how far the loss rose above its lowest.

    >>> summed({"loss": [3.0, 2.0, 1.0] * 10 + [2.0] * 10})["loss_rise"] > 0, summed({})
    (True, {})
    """
    sums = {name: statistics.median(some) for name, some in values.items() if name != "loss" and some}
    losses = values.get("loss", [])
    if len(losses) >= 4 * SMOOTH:
        means = [statistics.fmean(losses[at : at + SMOOTH]) for at in range(0, len(losses) - SMOOTH + 1, SMOOTH)]
        sums["loss_rise"] = means[-1] - min(means)
    return sums


def _repeated(fleet: FleetMemory, key: str, event: Event) -> Iterator[Sent]:
    """A cluster's line hears of a fault: tell the job if other jobs had the same on the same GPU."""
    job, code = str(event.data.get("job")), as_count(event.data.get("code"))
    jobs = fleet.faults.setdefault(f"{event.subject}|{code}", {})
    jobs[job] = max(event.time, jobs.get(job, 0.0))
    recent = [one for one, time in jobs.items() if event.time - time <= DAYS * 86400.0]
    while len(fleet.faults) > KEPT:
        del fleet.faults[next(iter(fleet.faults))]
    if len(recent) >= FEWEST:
        data = {"jobs": len(recent), "code": code, "node": event.data.get("node")}
        number = as_count(event.data.get("attempt")) or 1
        yield _sent(fleet, key, event, job, number, "fleet.repeated", event.subject, data)


def _sent(
    fleet: FleetMemory, key: str, event: Event, to: str, attempt: int, word: str, subject: str, data: dict[str, object]
) -> Sent:
    fleet.seq += 1
    told = Event(
        job=to,
        attempt=attempt,
        node=f"{SOURCE}/{key}",
        seq=fleet.seq,
        time=event.time,
        cluster=event.cluster,
        event=word,
        subject=subject,
        data={"job": key, "attempt": event.attempt, **data},
    )
    return Sent("telemetry", to, told)


def _note(fleet: FleetMemory, name: str, value: float) -> None:
    kept = fleet.values.setdefault(name, [])
    kept.append(value)
    if len(kept) > POINTS:
        del kept[::2]  # every other one: the shape of the whole attempt stays
