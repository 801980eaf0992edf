"""Stories of saves: those that do not come, those that slow down, and those that come too often."""

from typing import Any

import pytest
from msgspec import structs

from schemas.codec import encode
from tests.acceptance.replaying import replayed
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def saved(job: Job, seconds: float, mode: str = "sync", how: str = "checkpoint.end", **data: Any) -> Story:
    """One save that takes so long; training goes on meanwhile only where the mode says so."""
    step = job.step - 1
    begin = job.event("checkpoint.begin", step=step, mode=mode)
    if mode == "sync":
        job.time += seconds
        return [begin, job.event(how, step=step, mode=mode, seconds=seconds, **data)]
    between = job.run(max(1, int(seconds)))
    return [begin, *between, job.event(how, step=step, mode=mode, seconds=seconds, **data)]


def trained(job: Job, saves: list[float], every: int = 40, mode: str = "sync", **data: Any) -> Story:
    """Steps with a save after every so many, each of these lengths."""
    story: Story = []
    for seconds in saves:
        story += [*job.run(every), *saved(job, seconds, mode, **data)]
    return story


def found(story: Story, detector: str) -> list[dict[str, Any]]:  # Any: plain data
    """The detections of one kind."""
    whole: dict[str, Any] = dict(replayed(encode(record) + b"\n" for record in story))  # Any: plain data
    return [one for one in whole["detections"] if one["detector"] == detector]


def test_a_save_that_does_not_come() -> None:
    """Saves every forty steps, then none for a hundred and twenty: what would be lost is told until the next."""
    job = Job()
    story = [job.started(), *trained(job, [4.0] * 6), *job.run(120)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["severity"], incident["onset_step"]) == ("checkpoint_overdue", "warning", 340)
    [overdue] = found([*story, *saved(job, 4.0), *job.run(40)], "overdue_save")
    assert overdue["before"] == 40.0


def test_a_save_that_fails_is_none() -> None:
    """Saves go on being begun, and none is complete."""
    job = Job()
    story = [job.started(), *trained(job, [4.0] * 6)]
    for _ in range(4):
        story += [*job.run(40), *saved(job, 4.0, how="checkpoint.failed", error="no space left")]
    assert len(found(story, "overdue_save")) == 1


@pytest.mark.parametrize(
    ("event", "data"),
    [
        pytest.param("control.acknowledged", {"setting": "checkpoint.defer_until_step", "step": 345}, id="put off"),
        pytest.param("config.changed", {"save_every": [40, 400]}, id="another plan"),
    ],
)
def test_a_save_that_is_not_due(event: str, data: dict[str, Any]) -> None:
    """A save that was put off, or is planned for later, is not overdue."""
    job = Job()
    story = [job.started(), *trained(job, [4.0] * 6), job.event(event, **data), *job.run(200)]
    assert found(story, "overdue_save") == []


def test_saves_at_their_usual_distances_are_in_order() -> None:
    """Two kinds of saves at distances of their own, and a restart, are no finding."""
    job = Job()
    story: Story = [job.started()]
    for number in range(12):
        story += [*job.run(90 if number % 3 else 30), *saved(job, 3.0)]
    story.append(job.event("attempt.ended", reason="failed"))
    after = job.restarted(job.step - 20)
    story += [after.started(resume_step=after.step - 1), *after.run(100)]
    assert found(story, "overdue_save") == []


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_saves_that_slow_down(mode: str) -> None:
    """Ten seconds each, then eighteen and more: slow, though no single one of them is over a limit."""
    job = Job()
    story = [job.started(), *trained(job, [10.0] * 7 + [18.0, 19.0, 20.0, 21.0], mode=mode)]
    [incident] = [one for one in incidents_of(story) if one["layer"] == "checkpoint"]
    assert incident["cause"] == "checkpoints_slow_down"
    [slow] = found(story, "slowing_saves")
    assert (slow["before"], slow["after"]) == (10.0, 19.0)


def test_saves_that_grow_with_their_size_are_not_slow() -> None:
    """Twice the bytes in twice the time is the same speed; one slow save is none either."""
    job = Job()
    story = [job.started(), *trained(job, [10.0] * 7, bytes=1e9), *trained(job, [20.0] * 5, bytes=2e9)]
    assert found([*story, *trained(job, [40.0, 20.0, 20.0], bytes=2e9)], "slowing_saves") == []


def test_a_job_that_saves_too_often_is_advised() -> None:
    """Five seconds every forty steps in a job that has not failed in two hours: saving less would cost less."""
    job = Job()
    story = [job.started(), *trained(job, [5.0] * 90)]
    [advice, *_] = found(story, "save_interval")
    assert advice["after"] > 2 * advice["before"]
    assert incidents_of(story) == []


def test_the_briefs_job_is_near_enough_to_its_best() -> None:
    """Seconds every few hundred steps are no finding: what another distance would spare is less than it is worth."""
    job = Job()
    assert found([job.started(), *trained(job, [2.0] * 20, every=100)], "save_interval") == []


def unended(job: Job, mode: str) -> Story:
    """A save that begins, and of whose end nothing is heard while the job trains on."""
    return [job.event("checkpoint.begin", step=job.step - 1, mode=mode), *job.run(100)]


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_saves_that_begin_and_do_not_end(mode: str) -> None:
    """Two in a row are no loss of a line: nothing has been kept since."""
    job = Job()
    story = [job.started(), *trained(job, [4.0] * 2, every=100, mode="async"), *job.run(96)]
    first = job.step - 1
    story += [*unended(job, mode), *unended(job, mode)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("checkpoint_overdue", first)


def test_one_end_that_was_not_heard() -> None:
    """The next save that ends shows that saves do."""
    job = Job()
    story = [job.started(), *trained(job, [4.0] * 2, every=100, mode="async"), *job.run(96)]
    story += [*unended(job, "async"), *trained(job, [4.0] * 2, every=96, mode="async")]
    assert incidents_of(story) == []


@pytest.mark.parametrize(("said", "slow"), [("Training completed. Consolidating the weights", False), ("Saving", True)])
def test_the_last_save_of_a_run_that_is_through(said: str, slow: bool) -> None:
    """What is written when training is over holds nobody up; without that word a long save is a slow one."""
    job = Job()
    story = [job.started(), *trained(job, [4.0] * 6), *job.run(40)]
    begin = job.event("checkpoint.begin", step=job.step - 1, mode="sync")
    line = structs.replace(job.event("log.line", node="n1", level="INFO"), text=said)
    job.time += 400.0
    end = job.event("checkpoint.end", step=job.step - 1, mode="sync", seconds=400.0)
    story += [begin, line, end, job.event("attempt.ended", reason="finished", exit_code=0)]
    assert bool(found(story, "checkpoint")) == slow
