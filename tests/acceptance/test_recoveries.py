"""Stories of runs that were resumed: the same run is proved to be the same, another one is told."""

import numpy as np
from msgspec import structs

from schemas.codec import Plain, encode
from tests.acceptance.replaying import replayed
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def trained(job: Job, steps: int, factor: float = 1.0, seed: int = 1) -> Story:
    """Steps whose loss falls slowly, with the chance of its batches."""
    chance = np.random.default_rng(seed)
    told: Story = []
    for frame in job.run(steps):
        loss = float((2.0 + np.exp(-frame.step / 100.0)) * factor * (1 + 0.01 * chance.normal()))
        told.append(structs.replace(frame, job_values={**frame.job_values, "loss": loss} if frame.job_values else {}))
    return told


def resumed(factor: float = 1.0, **started: str) -> Story:
    """A job that fails after 120 steps, and goes on sixty steps before that."""
    job = Job()
    story: Story = [job.started(), *trained(job, 120), job.event("attempt.ended", reason="failed")]
    after = job.restarted(160)
    return [*story, after.started(resume_step=159, **started), *trained(after, 60, factor, seed=2)]


def told_of(story: Story) -> list[Plain]:
    """What was found about the recovery."""
    whole = replayed(encode(record) + b"\n" for record in story)
    found = whole["detections"]
    assert isinstance(found, list)
    return [one for one in found if isinstance(one, dict) and one["detector"] == "recovery"]


def test_the_same_run_is_proved_to_be_the_same() -> None:
    """Loss and throughput are as at the same steps before; that is said, and it is nobody's trouble."""
    [proof] = told_of(resumed())
    assert isinstance(proof, dict)
    assert proof["onset_step"] == 160
    assert [one for one in incidents_of(resumed()) if one["cause"] == "recovery_differs"] == []


def test_a_loss_that_comes_back_higher_is_another_run() -> None:
    """A tenth more loss at the same steps, in the same configuration: something was not loaded."""
    [incident] = [one for one in incidents_of(resumed(1.1)) if one["cause"] == "recovery_differs"]
    assert (incident["onset_step"], incident["layer"], incident["ranks"]) == (160, "model", [])
    [told] = [one for one in incident["evidence"] if one.get("detector") == "recovery"]
    assert "is not the run from before" in told["text"]
    assert told["numbers"]["throughput"] > 0.95


def test_another_configuration_is_another_run_by_right() -> None:
    """Who changes the configuration expects another loss."""
    assert [one for one in incidents_of(resumed(1.1, fingerprint="f2")) if one["cause"] == "recovery_differs"] == []
