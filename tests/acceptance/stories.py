"""Stories of small jobs by hand, replayed through the whole line."""

from collections.abc import Iterable
from typing import Any

from schemas.codec import Plain, encode
from schemas.telemetry import Event, SampleFrame, StepFrame
from tests.acceptance.replaying import replayed
from tests.stages.build import START, Job

Story = list[StepFrame | SampleFrame | Event]


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
