"""Steps that come in a burst after a standstill show that the job has trained on: nobody knew, and nothing hung."""

from collections.abc import Iterator

import pytest
from msgspec import structs

from schemas.detection import Detection
from schemas.telemetry import SampleFrame
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Fed, Job


def sampled(job: Job, first: float, last: float) -> Iterator[SampleFrame]:
    """The agents go on to speak, without anything that tells what the GPUs do."""
    job.time = first
    while job.time < last:
        job.time += 5.0
        for node in job.nodes:
            yield job.sample("node", [node], node, cpu_util=[0.3])


def buffered(job: Job, steps: int) -> Story:
    """Steps whose output is held back until the last of them is done."""
    begin = job.time
    late = job.run(steps)
    return [*sampled(job, begin, job.time), *late]


def found(fed: Fed[DetectMemory]) -> list[Detection]:
    """What was found about late steps."""
    return list({one.id: one for one in fed.told(Detection) if one.detector == "late_steps"}.values())


def trained(job: Job) -> Fed[DetectMemory]:
    """A job that has run well for some steps."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(60))
    return fed


def test_a_burst_makes_up_for_the_standstill() -> None:
    """Steps of five minutes that come at once are told as late, and over when the job has trained on."""
    job = Job()
    fed = trained(job)
    last, step = job.time, job.step
    fed.feed(*buffered(job, 300))
    [late] = found(fed)
    assert (late.onset_time, late.onset_step) == (last, step - 1)
    fed.feed(*job.run(60))
    assert found(fed)[0].end_time is not None


def skewed(job: Job, steps: int, seconds: float) -> Story:
    """Steps stamped by a clock that is wrong, among samples stamped by one that is right."""
    story: Story = []
    for _ in range(steps):
        story += [structs.replace(one, time=one.time + seconds) for one in job.run(1)]
        story.append(job.sample("node", ["n3"], "n3", cpu_util=[0.3]))
    return story


@pytest.mark.parametrize("skew", [0.0, -420.0])
def test_a_pause_is_not_made_up_for(skew: float) -> None:
    """After a standstill that was one, steps come as far apart as before, whatever their clock says."""
    job = Job()
    fed = Fed(Detect())
    fed.feed(job.started(), *skewed(job, 60, skew))
    fed.feed(*sampled(job, job.time, job.time + 250.0), *skewed(job, 100, skew))
    assert found(fed) == []


def test_buffered_output_is_no_hang() -> None:
    """Where nothing tells what the GPUs do, the burst corrects the verdict, and the next is waited for."""
    job = Job()
    story: Story = [job.started(), *job.run(60), *buffered(job, 400), *buffered(job, 400), *buffered(job, 400)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("steps_unreported", "monitoring", [])
