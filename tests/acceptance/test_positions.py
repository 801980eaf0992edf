"""Stories of samplers across restarts: what is trained twice, or never, is told once; what is in order is not told."""

from typing import Any

import pytest
from msgspec import structs

from schemas.telemetry import StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

PER_STEP = 8.0


def trained(job: Job, steps: int, cursor: float, **job_values: float) -> list[StepFrame]:
    """Steps whose first node tells the sampler's position, from the one given on."""
    first, frames = job.step, []
    for frame in job.run(steps):
        if frame.job_values:
            told = {"sampler_cursor": cursor + PER_STEP * (frame.step - first), **job_values}
            frame = structs.replace(frame, job_values={**frame.job_values, **told})
        frames.append(frame)
    return frames


def resumed(cursor: float, step: int = 160, started: dict[str, Any] | None = None, **job_values: float) -> Story:
    """A job of eighty steps from 100 on that goes on at a step, and at that position."""
    job = Job()
    story: Story = [job.started(), *trained(job, 80, 800.0, **dict.fromkeys(job_values, 0.0))]
    story.append(job.event("attempt.ended", reason="failed"))
    after = job.restarted(step)
    return [*story, after.started(resume_step=step - 1, **(started or {})), *trained(after, 40, cursor, **job_values)]


@pytest.mark.parametrize(
    ("cursor", "part", "steps"),
    [
        pytest.param(800.0, "back", 60, id="from the beginning"),
        pytest.param(1440.0, "ahead", 20, id="from where the failed attempt stopped"),
    ],
)
def test_a_sampler_that_lost_its_place(cursor: float, part: str, steps: int) -> None:
    """After a resume the position is held against the one the job had at that very step."""
    [incident] = [one for one in incidents_of(resumed(cursor)) if one["layer"] == "data"]
    assert (incident["cause"], incident["onset_step"], incident["ranks"]) == ("data_position_lost", 160, [])
    [sign] = [one for one in incident["evidence"] if one.get("detector") == "position_restart"]
    assert sign["numbers"] == {"steps": steps}
    assert {"back": "trained again", "ahead": "left out"}[part] in sign["text"]


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(lambda: resumed(1280.0), id="at its checkpoint"),
        pytest.param(lambda: resumed(1440.0, step=180), id="at its last step"),
        pytest.param(lambda: resumed(1472.0, step=184), id="some steps later"),
        pytest.param(lambda: resumed(0.0, started={"fingerprint": "f2"}), id="another configuration"),
        pytest.param(lambda: resumed(0.0, epoch=1.0), id="another epoch"),
    ],
)
def test_a_sampler_that_kept_its_place_says_nothing(story: Any) -> None:
    """Steps behind the checkpoint are trained again by right, and another configuration or epoch begins anew."""
    assert [one for one in incidents_of(story()) if one["layer"] == "data"] == []


def test_a_new_epoch_within_an_attempt_is_no_restart() -> None:
    """A position goes back to the beginning when the data have been seen once."""
    job = Job()
    story: Story = [job.started(), *trained(job, 80, 800.0), *trained(job, 80, 0.0)]
    assert incidents_of(story) == []


def test_stalls_of_a_loader_in_lines_of_the_whole_job_have_their_period() -> None:
    """A log that speaks of the job alone tells as well that every eighth step waits for data."""
    job = Job()
    story: Story = [job.started()]
    for step in range(200):
        [frame, *_] = job.run(1, loader=6.0 if step % 8 == 0 else 0.05)
        told = {name: values[0] for name, values in frame.values.items()}
        story.append(structs.replace(frame, ranks=[], values={}, job_values={**frame.job_values, **told}))
    [incident] = incidents_of(story)
    assert incident["cause"] == "recurring_loader_stall"
    assert any("every 8 steps" in one["text"] for one in incident["evidence"])
