"""A job of which only a part is placed waits for the rest; one that waits as a whole, or starts slowly, does not."""

import pytest

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def waited(tasks: int, *, placed: int, state: str = "running", minutes: int = 8) -> tuple[Job, Story]:
    """A job of eight ranks of which so many are placed, and what the scheduler says of it every minute."""
    job = Job()
    placement = [{"rank": rank, "node": job.node_of(rank), "gpu": f"GPU-{rank}"} for rank in range(placed)]
    story: Story = [job.started(placement=placement)]
    for _ in range(minutes):
        job.time += 60.0
        story.append(job.event("scheduler.status", node="scheduler", state=state, tasks=tasks))
    return job, story


def test_a_part_that_waits_for_the_rest_is_told_before_it_gives_up() -> None:
    """Nobody is blamed, and the errors with which the ranks give up belong to it."""
    job, story = waited(5, placed=5)
    job.time += 120.0
    story += [job.event("rank.error", node="n1", rank=rank, error="RendezvousTimeoutError") for rank in range(5)]
    job.time += 6.0
    story.append(job.event("attempt.ended", reason="failed", exit_code=1))
    [found] = incidents_of(story)
    assert (found["cause"], found["severity"], found["nodes"]) == ("gang_incomplete", "warning", [])
    assert found["onset_time"] == story[0].time
    assert found["opened_time"] - found["onset_time"] == 120.0


def test_it_is_over_with_the_first_step() -> None:
    """The rest was placed at last."""
    job, story = waited(5, placed=5)
    [found] = incidents_of([*story, *job.run(60)])
    assert found["state"] == "resolved"


@pytest.mark.parametrize(
    ("tasks", "placed", "state", "minutes"),
    [(0, 8, "scheduled", 60), (8, 8, "running", 4), (2, 8, "running", 4), (5, 5, "running", 1)],
    ids=["waits as a whole", "starts slowly", "tasks are nodes", "is being placed"],
)
def test_others_are_not_told(tasks: int, placed: int, state: str, minutes: int) -> None:
    """A queue, a long start, and a count of nodes are in order."""
    job, story = waited(tasks, placed=placed, state=state, minutes=minutes)
    assert incidents_of([*story, *job.run(60)]) == []
