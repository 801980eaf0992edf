"""Replicas that are fed the same samples are told, by the launcher's layout or by what was usual before."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

Feed = Callable[[int, int], int | None]
"""Step number and rank -> sample."""


def own(step: int, rank: int) -> int:
    """Every rank has its own."""
    return 4 * step + rank


def pairs(step: int, rank: int) -> int:
    """Two ranks share a model, and so a sample."""
    return 2 * step + rank // 2


def same(step: int, rank: int) -> int:
    """Everybody has the same."""
    return 1_000_000 + step


def first_only(step: int, rank: int) -> int | None:
    """Only the first rank of a model tells of it."""
    return pairs(step, rank) if rank % 2 == 0 else None


def same_first_only(step: int, rank: int) -> int | None:
    """Likewise, and both models have the same."""
    return same(step, rank) if rank % 2 == 0 else None


def fed(job: Job, steps: int, feed: Feed) -> Story:
    """Train on these samples."""
    story: Story = []
    for number, frame in enumerate(job.run(steps)):
        frame.values["sample_id"] = [feed(job.step + number, rank) for rank in range(4)]
        story.append(frame)
    return story


def resumed(before: Feed, after: Feed, **started: Any) -> Story:  # Any: data of the start
    """A job of four ranks that is restarted after 60 steps at step 160."""
    job = Job(nodes=1, ranks=4)
    story: Story = [job.started(**started), *fed(job, 60, before), job.event("attempt.ended", reason="requeued")]
    again = job.restarted(160)
    return [*story, again.started(resume_step=159, **started), *fed(again, 40, after)]


def laid_out(*replicas: int) -> dict[str, Any]:  # Any: data of the start
    """The launcher names each rank's replica."""
    return {"placement": [{"rank": rank, "node": "n1", "dp": replica} for rank, replica in enumerate(replicas)]}


@pytest.mark.parametrize(
    ("before", "after", "started"),
    [(own, same, {}), (pairs, same, {}), (first_only, same_first_only, laid_out(0, 0, 1, 1))],
)
def test_replicas_that_get_the_same_samples_after_a_restart_are_told(
    before: Feed, after: Feed, started: dict[str, Any]
) -> None:
    """A step trains on a part of what it should: nobody is to blame."""
    [incident] = incidents_of(resumed(before, after, **started))
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("replicas_fed_the_same", "data", [])
    assert incident["onset_step"] == 160


def test_the_layout_tells_it_from_the_first_step() -> None:
    """Four replicas have to have four samples."""
    job = Job(nodes=1, ranks=4)
    [incident] = incidents_of([job.started(**laid_out(0, 1, 2, 3)), *fed(job, 40, same)])
    assert (incident["cause"], incident["onset_step"]) == ("replicas_fed_the_same", 100)


@pytest.mark.parametrize(
    ("before", "after", "started"),
    [
        (own, own, {}),
        (pairs, pairs, laid_out(0, 0, 1, 1)),
        (same, same, {}),
        (same, same, laid_out(0, 0, 0, 0)),
        (own, first_only, {}),
    ],
)
def test_what_shares_a_sample_by_right_is_silent(before: Feed, after: Feed, started: dict[str, Any]) -> None:
    """Ranks of one model share theirs, and where no layout is known, what always was so is right."""
    assert incidents_of(resumed(before, after, **started)) == []


def test_it_is_over_when_the_samples_differ_again() -> None:
    """One incident, with an end."""
    job = Job(nodes=1, ranks=4)
    story: Story = [job.started(), *fed(job, 60, own), *fed(job, 30, same), *fed(job, 400, own)]
    [incident] = incidents_of(story)
    assert (incident["state"], incident["onset_step"], incident["end_step"]) == ("resolved", 160, 197)
