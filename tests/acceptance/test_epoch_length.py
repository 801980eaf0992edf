"""Epochs that are cut short after a resume, or have become longer, are told; what ends by right is not."""

import pytest

from schemas.telemetry import StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def epochs(job: Job, *lengths: int, first: int = 0) -> Story:
    """Epochs of so many steps."""
    return [frame for number, steps in enumerate(lengths) for frame in job.run(steps, epoch=float(first + number))]


def resumed(*, rest: int, resume: int = 0, fingerprint: str = "f1") -> list[dict[str, object]]:
    """Two epochs of 60 steps and 25 steps of a third; after a resume it goes on for `rest` steps, and then two more.

    Args:
        resume: steps that are taken back.
    """
    job = Job(1, 2)
    story: Story = [job.started(), *epochs(job, 20, 60, 60, 25), job.event("attempt.ended", reason="requeued")]
    again = job.restarted(job.step - resume)
    story += [again.started(fingerprint=fingerprint), *epochs(again, rest, 60, 60, 10, first=3)]
    return [one for one in incidents_of(story) if one["cause"] == "epoch_length_changed"]


@pytest.mark.parametrize(("rest", "word"), [(10, "left out"), (60, "more were trained")])
def test_an_epoch_that_the_resume_made_shorter_or_longer_is_told(rest: int, word: str) -> None:
    """It is dated to the resume."""
    [incident] = resumed(rest=rest)
    assert (incident["layer"], incident["onset_step"], incident["nodes"]) == ("data", 265, [])
    evidence = incident["evidence"]
    assert isinstance(evidence, list)
    assert any(word in one["text"] for one in evidence)


@pytest.mark.parametrize(
    ("rest", "resume", "fingerprint"), [(35, 0, "f1"), (45, 10, "f1"), (36, 0, "f1"), (80, 0, "f2")]
)
def test_an_epoch_of_the_usual_length_is_silent(rest: int, resume: int, fingerprint: str) -> None:
    """Whether or not steps are taken back; another configuration may have other epochs."""
    assert resumed(rest=rest, resume=resume, fingerprint=fingerprint) == []


def test_epochs_that_stay_short_are_one_incident() -> None:
    """Every epoch ends after a third."""
    job = Job(1, 2)
    story: Story = [job.started(), *epochs(job, 20, 60, 60, 60, 20, 20, 20, 5)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("epoch_length_changed", 320)


def test_where_only_every_tenth_step_is_told_an_epoch_may_seem_longer() -> None:
    """Epochs of 64 steps begin at one of ten."""
    job = Job(1, 2)
    every = [frame for frame in epochs(job, 64, 64, 64, 64, 64, 64) if isinstance(frame, StepFrame)]
    assert incidents_of([job.started(), *[one for one in every if one.step % 10 == 0]]) == []
