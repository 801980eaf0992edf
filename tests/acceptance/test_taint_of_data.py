"""The contaminated range names the samples and the shards that were trained on in it."""

from typing import Any

from schemas.telemetry import Event, StepFrame
from tests.acceptance.stories import incidents_of
from tests.stages.build import Job

PER_STEP = 8
Story = list[StepFrame | Event]


def trained(job: Job, steps: int, slow: dict[int, float] | None = None, shards: int = 0) -> Story:
    """Steps of a job whose sampler moves on by eight samples each; a loader opens a shard every so many steps."""
    told: Story = []
    for _ in range(steps):
        if shards and job.step % shards == 0:
            told.append(job.event("data.shards", step=job.step, shards=[f"shard-{job.step:05d}.tar"]))
        told += job.run(1, slow=slow, sampler_cursor=float((job.step - 99) * PER_STEP))
    return told


def taint_of(story: Story) -> dict[str, Any]:  # Any: plain data
    """The range of the one incident of a story."""
    [incident] = incidents_of(story)
    assert incident["onset_step"] == 180
    taint: dict[str, Any] = incident["taint"]
    return taint


def test_samples_and_shards_of_the_range_are_named() -> None:
    """From where the sampler stood before the first contaminated step to where it stands now; no shard from before."""
    job = Job()
    taint = taint_of([job.started(), *trained(job, 80, shards=50), *trained(job, 120, {5: 1.3}, shards=50)])
    assert (taint["from_step"], taint["to_step"]) == (180, 299)
    assert (taint["from_sample"], taint["to_sample"]) == (80 * PER_STEP, 200 * PER_STEP)
    assert taint["shards"] == ["shard-00200.tar", "shard-00250.tar"]
    assert taint["shards_opened"] == 2


def test_a_trainer_that_says_nothing_of_its_data_taints_steps_alone() -> None:
    """What is not known is not made up."""
    job = Job()
    taint = taint_of([job.started(), *job.run(80), *job.run(120, slow={5: 1.3})])
    assert (taint["from_sample"], taint["to_sample"], taint["shards"]) == (None, None, [])


def test_a_thousand_shards_are_counted_and_the_first_are_named() -> None:
    """A line of the ledger does not grow with the data."""
    job = Job()
    story = [job.started(), *trained(job, 80), *trained(job, 40, {5: 1.3})]
    many = [f"shard-{number:05d}.tar" for number in range(1000)]
    story.append(job.event("data.shards", step=job.step - 1, shards=many))
    taint = taint_of([*story, *trained(job, 80, {5: 1.3})])
    assert taint["shards"] == many[:64]
    assert taint["shards_opened"] == 1000
