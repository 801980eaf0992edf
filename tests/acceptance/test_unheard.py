"""A job whose trainer reports no steps: GPUs that work are left alone, GPUs that only wait are a start that hangs."""

import pytest

from schemas.telemetry import Reading
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def silent(minutes: int, watts: float, units: float | None = None, idle: int = 10) -> Story:
    """A job that tells of no step, and whose GPUs are busy at this power after so many moments in which they idle."""
    job = Job()
    story: Story = [job.started()]
    for moment in range(2 * minutes):
        job.time += 30.0
        busy = moment >= idle
        for node, ranks in (("n1", [0, 1, 2, 3]), ("n2", [4, 5, 6, 7])):
            values = {"gpu_util": 0.97 if busy else 0.01, "power_watts": watts if busy else 95.0}
            if units is not None:
                values["sm_active"] = units if busy else 0.0
            readings: dict[str, list[Reading]] = {name: [value] * 4 for name, value in values.items()}
            story.append(job.sample("gpu", [f"GPU-{rank}" for rank in ranks], node, ranks, **readings))
    return story


@pytest.mark.parametrize(("watts", "units"), [(620.0, None), (340.0, None), (260.0, 0.7)])
def test_gpus_that_work_are_a_job_that_trains(watts: float, units: float | None) -> None:
    """An hour without a step is then a gap in what is seen, and restarts nothing."""
    [incident] = incidents_of(silent(80, watts, units))
    assert (incident["cause"], incident["layer"], incident["severity"]) == ("steps_unreported", "monitoring", "warning")
    assert not [one for one in incident["actions"] if one["action"].startswith("job.")]


@pytest.mark.parametrize(("watts", "units"), [(180.0, None), (230.0, 0.12)])
def test_gpus_that_wait_are_a_start_that_hangs(watts: float, units: float | None) -> None:
    """Busy at little power for an hour, without one step: nothing is being trained."""
    [incident] = incidents_of(silent(80, watts, units))
    assert (incident["cause"], incident["severity"]) == ("hang", "critical")


def unread(minutes: int) -> Story:
    """A job that tells of no step, and of whose nodes nothing but their memory is read."""
    job = Job()
    story: Story = [job.started()]
    for _ in range(2 * minutes):
        job.time += 30.0
        story += [job.sample("node", [node], node, memory_available_bytes=[8e11]) for node in job.nodes]
    return story


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(silent(80, 330.0, idle=0), id="never seen at rest"),
        pytest.param(silent(80, 285.0), id="between work and waiting"),
        pytest.param(unread(80), id="no GPU is read"),
        pytest.param(silent(130, 0.0, idle=1000), id="idle for two hours"),
    ],
)
def test_what_nobody_can_tell_restarts_nothing(story: Story) -> None:
    """Without a step ever, and without a word of the GPUs that decides it, people are told and nothing is done."""
    [incident] = incidents_of(story)
    assert (incident["cause"], {one["action"] for one in incident["actions"]}) == ("unknown", {"notify"})


def test_an_hour_of_preparation_is_none() -> None:
    """GPUs that idle before the first step may wait for data that are being prepared."""
    assert incidents_of(silent(110, 0.0, idle=1000)) == []
