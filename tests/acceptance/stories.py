"""Stories of small jobs by hand, replayed through the whole line."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import structs

from schemas.codec import Plain, encode
from schemas.telemetry import Event, Reading, SampleFrame, StepFrame
from tests.acceptance.replaying import replayed
from tests.stages.build import START, Job

Story = list[StepFrame | SampleFrame | Event]
Values = Mapping[str, float | list[float]]
"""Readings of a kind on one node; a number stands for all its GPUs."""


def incidents_of(story: Iterable[StepFrame | SampleFrame | Event]) -> list[dict[str, Any]]:  # Any: plain data
    """The last revision of every incident a story leads to."""
    whole: dict[str, Plain] = replayed(encode(record) + b"\n" for record in story)
    return list(whole["incidents"])


def cluster_event(name: str, time: float, seq: int, subject: str = "", **data: Any) -> Event:  # Any: event data
    """Something that happens in a cluster and belongs to no job."""
    return Event(
        job="c1",
        attempt=0,
        cluster="c1",
        node="scheduler",
        seq=seq,
        time=START + time,
        event=name,
        subject=subject,
        data=data,
    )


def timed_out(job: Job, ranks: Iterable[int], **data: Any) -> Story:  # Any: event data
    """The watchdog's line of some ranks, all within a second."""
    fields = {"seq": 7, "op": "ALLREDUCE", "numel_in": 64, "ran_ms": 600_000, "limit_ms": 600_000}
    story: Story = []
    for rank in ranks:
        job.time += 0.01
        story.append(job.event("nccl.timeout", node=job.node_of(rank), rank=rank, **{**fields, **data}))
    return story


def lived(
    job: Job,
    steps: int,
    *,
    slow: Mapping[int, float] | None = None,
    waits: float = 0.05,
    starved: Mapping[int, float] | None = None,
    nodes: Mapping[str, Values] | None = None,
    gpus: Mapping[str, Values] | None = None,
) -> Story:
    """Train on for some steps, while every node is read every ten seconds.

    Args:
        job: goes on.
        steps: so many.
        slow: rank -> factor on its compute time.
        waits: seconds of the fastest collective.
        starved: rank -> seconds more that it waits for its batch, and all others for it.
        nodes: node -> what is read of it, besides what is usual.
        gpus: node -> what is read of its GPUs, likewise.
    """
    story: Story = []
    for _ in range(steps):
        before = job.time
        late = max((starved or {0: 0.0}).values())
        frames = job.run(1, slow=slow, waiting=waits + late)
        story += [_starving(frame, starved or {}) for frame in frames]
        if job.time // 10 > before // 10:
            story += [one for node in job.nodes for one in _read(job, node, (nodes or {}), (gpus or {}))]
    return story


def _starving(frame: StepFrame, starved: Mapping[int, float]) -> StepFrame:
    more = [starved.get(rank, 0.0) for rank in frame.ranks]
    values = dict(frame.values)
    for name, sign in (("loader_seconds", 1.0), ("wait_seconds", -1.0)):
        values[name] = [(was or 0.0) + sign * extra for was, extra in zip(values[name], more, strict=True)]
    return structs.replace(frame, values=values)


def _read(job: Job, node: str, nodes: Mapping[str, Values], gpus: Mapping[str, Values]) -> Story:
    ranks = [rank for rank in range(job.size) if job.node_of(rank) == node]
    host = {"cpu_util": 0.2, "iowait": 0.004, "memory_available_bytes": 8e11, "retransmits_total": 0.0}
    card = {"gpu_util": 0.98, "power_watts": 640.0, "sm_clock_mhz": 1755.0, "temperature_c": 62.0}
    cards = [f"GPU-{rank}" for rank in ranks]
    return [
        job.sample("gpu", cards, node, ranks, **_readings({**card, **gpus.get(node, {})}, len(ranks))),
        job.sample("node", [node], node, [], **_readings({**host, **nodes.get(node, {})}, 1)),
    ]


def _readings(values: Values, width: int) -> dict[str, list[Reading]]:
    return {name: [*value] if isinstance(value, list) else [value] * width for name, value in values.items()}
