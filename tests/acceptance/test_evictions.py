"""Workers that are taken from a job: one, all, many at once, and one whose node had no room left."""

from typing import Any

import pytest
from msgspec import structs

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def taken(nodes: list[str], text: str = "", apart: float = 0.5) -> Story:
    """A job of eight nodes from which the scheduler takes some; it goes on from its last save seven minutes later."""
    job = Job(8, 1)
    story: Story = [job.started(), *job.run(60)]
    for node in nodes:
        job.time += apart
        story.append(structs.replace(job.event("worker.evicted", node="scheduler", subject=node), text=text))
    job.time += 4.0
    story.append(job.event("attempt.ended", reason="evicted", exit_code=143))
    after = job.restarted(job.step, after=420.0)
    return [*story, after.started(reason="resume", resume_step=after.step), *after.run(80)]


def told(story: Story) -> tuple[Any, ...]:  # Any: plain data
    """Cause, severity and culprits of the only incident, and what was done."""
    [found] = incidents_of(story)
    done = {one["action"] for one in found["actions"] if one["decision"] in ("act", "would_act", "asked")}
    return found["cause"], found["severity"], found["nodes"], done


def test_many_workers_taken_at_once_are_told_as_one_event() -> None:
    """That is nobody's priority: people are told, no node is blamed, and it began with the first of them."""
    story = taken(["n2", "n3", "n5", "n7", "n8"])
    assert told(story) == ("mass_eviction", "warning", [], {"notify"})
    [found] = incidents_of(story)
    assert found["onset_step"] == 159


@pytest.mark.parametrize("nodes", [["n3"], ["n2", "n5", "n6"], [f"n{number}" for number in range(1, 9)]])
def test_a_job_that_makes_room_is_only_known(nodes: list[str]) -> None:
    """A few workers, or the whole job, make room for another: that is what queues are for."""
    assert told(taken(nodes))[:3] == ("preemption", "info", [])


def test_workers_taken_now_and_then_are_no_event() -> None:
    """What is spread over many minutes has no one cause."""
    assert told(taken(["n2", "n3", "n5", "n7", "n8"], apart=90.0))[:2] == ("preemption", "info")


@pytest.mark.parametrize(
    "text",
    ["The node was low on resource: ephemeral-storage.", "The node had condition: [DiskPressure].", "MemoryPressure"],
)
def test_a_node_without_room_is_named(text: str) -> None:
    """The node itself put the worker out, and says why."""
    assert told(taken(["n3"], text)) == ("node_short_of_space", "warning", ["n3"], {"notify"})


TORN = "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"


def evicted_while_saving(error: str, times: int = 4) -> Story:
    """A job that makes room in the middle of a save, and whose next starts fail in this way before any step."""
    job = Job()
    story: Story = [job.started(), *job.run(60), job.event("checkpoint.begin", step=159)]
    job.time += 8.0
    story += [
        job.event("worker.evicted", node="scheduler", subject="n2"),
        job.event("attempt.ended", reason="preempted"),
    ]
    for _ in range(times):
        job = job.restarted(160, after=120.0)
        story.append(job.started(resume_step=159))
        job.time += 45.0
        story += [job.event("rank.error", node="n2", rank=5, error=error)]
        job.time += 3.0
        story += [job.event("attempt.ended", reason="failed", exit_code=1)]
    return story


def test_starts_that_cannot_read_the_save_are_no_part_of_the_preemption_before() -> None:
    """Making room was harmless; that the save of that moment is torn keeps the job down, and is told for itself."""
    room, torn = incidents_of(evicted_while_saving(TORN))
    assert (room["cause"], room["severity"], room["attempt"]) == ("preemption", "info", 1)
    assert (torn["cause"], torn["layer"], torn["severity"]) == ("save_unreadable", "checkpoint", "critical")
    assert (torn["nodes"], {one["action"] for one in torn["actions"]}) == ([], {"notify"})
    assert "4 times in a row" in " ".join(one["text"] for one in torn["evidence"])


def test_starts_that_fail_otherwise_after_a_preemption_are_the_programs_matter() -> None:
    """A save that nobody complains of is not at fault."""
    assert [one["cause"] for one in incidents_of(evicted_while_saving("KeyError: 'mixture'"))] == [
        "preemption",
        "program_error",
    ]


def test_a_file_that_cannot_be_read_while_the_job_trains_is_no_save() -> None:
    """Datasets are made of such files as well."""
    job = Job()
    story: Story = [job.started(), *job.run(60), job.event("rank.error", node="n2", rank=5, error=TORN)]
    story += [job.event("attempt.ended", reason="failed", exit_code=1)]
    assert [one["cause"] for one in incidents_of(story)] == ["program_error"]
