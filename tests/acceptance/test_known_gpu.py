"""A GPU's fault that a cluster follows already is not told a second time by a job that does not know its cluster."""

from typing import Any

from schemas.telemetry import Event
from tests.acceptance.stories import Story, cluster_event, incidents_of
from tests.stages.build import START, Job

BAD = "GPU-6c0ffee1"


def on(job: Job, bad: str = BAD) -> Event:
    """The start of a job whose fifth rank has the bad GPU; nothing of it names a cluster."""
    gpus = [f"GPU-00000{rank:02d}-{id(job):x}" for rank in range(job.size)]
    gpus[4] = bad
    placement = [{"rank": rank, "node": job.node_of(rank), "gpu": gpus[rank]} for rank in range(job.size)]
    return job.started(placement=placement)


def fault(job: Job, code: int, gpu: str = BAD) -> Event:
    """The kernel's line on the node of the bad GPU."""
    return job.event("xid", node="n2", subject=gpu, code=code)


def idle(time: float, seq: int, code: int = 63) -> Event:
    """The same GPU speaks while it is idle."""
    return cluster_event("xid", time, seq, subject=BAD, code=code)


def told(story: Story) -> list[tuple[str, str, str, int]]:
    """Job, state and cause of every incident, and the number of its actions."""
    return [(one["job"], one["state"], one["cause"], len(one["actions"])) for one in incidents_of(story)]


def of(found: list[tuple[str, str, str, int]], job: str) -> list[Any]:
    """What was told of one job or cluster."""
    return [one for one in found if one[0] == job]


def test_a_fault_that_the_cluster_follows_is_told_once() -> None:
    """The job's own incident is closed as a part of the cluster's, and moves nothing."""
    job = Job()
    story: Story = [idle(-7200, 0), cluster_event("node.joined", -600, 1, subject="n2"), on(job), *job.run(40)]
    story += [fault(job, 63), *job.run(60)]
    whole = incidents_of(story)
    [cluster] = [one for one in whole if one["job"] == "c1"]
    [mine] = [one for one in whole if one["job"] == "toy"]
    assert (cluster["cause"], cluster["state"]) == ("gpu_row_remap_pending", "open")
    assert cluster["affected"]["jobs"] == ["toy"]
    assert (mine["state"], mine["linked"], mine["actions"], mine["cluster"]) == ("closed", cluster["id"], [], "c1")


def test_a_worse_fault_of_the_same_gpu_is_the_jobs_own() -> None:
    """That a reset is pending says nothing of a GPU that falls off the bus."""
    job = Job()
    story: Story = [idle(-7200, 0), on(job), *job.run(40), fault(job, 79), *job.run(60)]
    assert [one[2] for one in of(told(story), "toy")] == ["gpu_failed"]
    assert of(told(story), "toy")[0][1] != "closed"


def test_the_same_fault_of_another_gpu_is_the_jobs_own() -> None:
    """A fault belongs to a GPU, not to a code."""
    job = Job()
    other = "GPU-deadbeef"
    story: Story = [idle(-7200, 0), on(job, other), *job.run(40), fault(job, 63, other), *job.run(60)]
    found = told(story)
    assert [one[1] for one in of(found, "toy")] == ["resolved"]
    assert len(of(found, "c1")) == 1


def test_what_a_job_has_told_the_cluster_does_not_tell_again() -> None:
    """A second reader that reports the same Xid to the cluster half a minute later tells nothing new."""
    job = Job()
    story: Story = [cluster_event("node.joined", -60, 0, subject="n2", gpus=[BAD]), on(job), *job.run(40)]
    story += [fault(job, 63), *job.run(15), idle(job.time - START, 1), *job.run(60)]
    found = told(story)
    assert (len(of(found, "toy")), of(found, "c1")) == (1, [])


def test_a_job_finds_its_cluster_late() -> None:
    """What a job told nobody reaches its cluster as soon as that speaks of the same GPUs."""
    job = Job()
    story: Story = [on(job), *job.run(40), fault(job, 64), *job.run(60)]
    story += [cluster_event("node.removed", job.time - START, 0, subject="n2", gpus=[BAD], reason="Xid 64")]
    story += job.run(60)
    assert {one["cluster"] for one in incidents_of(story) if one["job"] == "toy"} == {"c1"}
