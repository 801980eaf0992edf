"""Numbers that go wrong: one fault is one incident, over every attempt that it spoils, and graver where it stays."""

from typing import Any

import pytest
from msgspec import structs

from schemas.telemetry import Event
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

NAN = float("nan")


def decided(incident: dict[str, Any], action: str) -> int:  # Any: plain data
    """How often an action would have been done for an incident."""
    return sum(one["action"] == action and one["decision"] == "would_act" for one in incident["actions"])


def ending(job: Job, text: str = "AssertionError: loss is nan") -> list[Event]:
    """The trainer gives up, and says why."""
    line = job.event("log.line", node="n1", level="ERROR", rank=0)
    return [structs.replace(line, text=text), ended(job)]


def ended(job: Job) -> Event:
    """The attempt has failed."""
    return job.event("attempt.ended", reason="failed")


def test_a_loss_that_rises_and_stays_is_a_divergence() -> None:
    """It is critical, and the job would be stopped."""
    job = Job()
    story: Story = [job.started(), *job.run(120), *(one for i in range(30) for one in job.run(1, loss=2.0 + 0.15 * i))]
    [incident] = incidents_of([*story, *job.run(70, loss=6.4), *ending(job, "loss is too high, giving up")])
    assert (incident["cause"], incident["severity"], incident["layer"]) == ("loss_diverged", "critical", "model")
    assert (decided(incident, "job.stop"), incident["nodes"]) == (1, [])


@pytest.mark.parametrize("steps", [5, 30])
def test_a_spike_that_heals_is_none(steps: int) -> None:
    """However high it is, it is back within some tens of steps: a warning, and nothing is stopped."""
    job = Job()
    story: Story = [job.started(), *job.run(120), *job.run(steps, loss=6.0), *job.run(90)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["severity"], decided(incident, "job.stop")) == ("loss_spike", "warning", 0)


@pytest.mark.parametrize("says", [True, False])
def test_the_exit_after_the_numbers_broke_belongs_to_them(says: bool) -> None:
    """A job that ends for its NaN has one fault, whether or not it says why it ends."""
    job = Job()
    story: Story = [job.started(), *job.run(80), *job.run(3, loss=NAN)]
    story += ending(job) if says else [ended(job)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("numeric_blow_up", 180)


@pytest.mark.parametrize("pause", [60.0, 1500.0])
def test_a_save_that_breaks_every_attempt_is_one_incident(pause: float) -> None:
    """Three steps after each load the loss is NaN: told once, marked once, and a stop is proposed."""
    job = Job()
    story: Story = [job.started(), *job.run(80), *job.run(1, loss=NAN), *ending(job)]
    for _ in range(4):
        job = job.restarted(178, after=pause)
        story += [job.started(resume_step=177), *job.run(2), *job.run(1, loss=NAN), *ending(job)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["severity"], incident["attempt"]) == ("numeric_blow_up", "critical", 5)
    assert (decided(incident, "taint.mark"), decided(incident, "job.stop")) == (1, 1)
    assert sum(one["action"] == "notify" for one in incident["actions"]) == 1


def test_a_nan_at_the_same_step_of_the_next_attempt_is_the_same() -> None:
    """It is not over because sixty steps before it went well again."""
    job = Job()
    story: Story = [job.started(), *job.run(110), *job.run(3, loss=NAN), *ending(job)]
    again = job.restarted(150, after=900.0)
    story += [again.started(resume_step=149), *again.run(60), *again.run(3, loss=NAN), *ending(again)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("numeric_blow_up", 210)


def test_it_is_over_when_the_next_attempt_has_passed_it() -> None:
    """Another restart has helped: twenty good steps after the one that broke it is resolved."""
    job = Job()
    story: Story = [job.started(), *job.run(110), *job.run(3, loss=NAN), *ending(job)]
    again = job.restarted(200)
    [incident] = incidents_of([*story, again.started(resume_step=199), *again.run(300)])
    assert (incident["cause"], incident["state"]) == ("numeric_blow_up", "resolved")


def test_a_result_that_is_not_reproducible_names_the_gpu_that_gave_it() -> None:
    """The spike and the exit belong to it; the rank that reports it names the GPU."""
    job = Job()
    story: Story = [job.started(), *job.run(120), *job.run(1, loss=3.9, grad_norm=40.0)]
    text = "rerun: unexpected result is not reproducible within the tolerance (3.9 != 2.0)"
    line = job.event("log.line", node="n2", level="WARN", rank=5)
    told = structs.replace(line, text=text)
    [incident] = incidents_of([*story, told, *ending(job, "rank 5 gives up")])
    assert (incident["cause"], incident["layer"]) == ("result_not_reproducible", "gpu")
    assert (incident["nodes"], incident["ranks"], incident["gpus"]) == (["n2"], [5], ["GPU-5"])


@pytest.mark.parametrize(
    "text",
    [
        "rerun: unexpected result is reproducible within the tolerance (nan = nan)",
        "no seed is set: the result is not reproducible",
        "possible transient error of the storage, trying again",
    ],
)
def test_other_lines_accuse_no_gpu(text: str) -> None:
    """The same bad result twice is not the machine's, and words alone are no result."""
    job = Job()
    line = job.event("log.line", node="n2", level="WARN", rank=5)
    told = structs.replace(line, text=text)
    assert [one["gpus"] for one in incidents_of([job.started(), *job.run(120), told, *job.run(20)])] == []


def test_numbers_that_break_after_a_failure_are_not_its_reason() -> None:
    """The job failed of something, and went on; what breaks in the next attempt is an incident of its own."""
    job = Job()
    story: Story = [job.started(), *job.run(200), ended(job)]
    again = job.restarted(250)
    story += [again.started(resume_step=249), *again.run(100, loss_scale=65536.0)]
    story += [*again.run(3, loss=NAN, loss_scale=128.0), *again.run(20, loss_scale=128.0)]
    failed, broken = sorted(incidents_of(story), key=lambda one: one["onset_step"])
    assert (failed["cause"], failed["onset_step"]) == ("job_failed", 299)
    assert (broken["cause"], broken["onset_step"]) == ("numeric_blow_up", 350)
