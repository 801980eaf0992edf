"""What a training run does by right: epochs that begin, loss scales that are searched, batches that grow."""

from typing import Any

import numpy as np
import pytest

from schemas.telemetry import Reading
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

OVER = 2.0**16


def trained(job: Job, steps: int, loss: float = 2.0, **values: Any) -> Story:  # Any: readings
    """Steps with the chance of their batches on top of a constant loss."""
    chance = np.random.default_rng(3)
    return [
        frame for _ in range(steps) for frame in job.run(1, loss=loss * (1 + 0.01 * float(chance.normal())), **values)
    ]


@pytest.mark.parametrize("fall", [0.85, 0.7, 0.45])
def test_a_loss_that_falls_with_a_new_epoch_is_no_finding(fall: float) -> None:
    """The data were seen before: at each new epoch the loss steps down and goes on from there."""
    job = Job()
    story = [job.started(), *trained(job, 130, epoch=0.0)]
    story += [*trained(job, 130, loss=2.0 * fall, epoch=1.0), *trained(job, 60, loss=2.0 * fall**2, epoch=2.0)]
    assert incidents_of(story) == []


def test_an_epoch_told_in_fractions_begins_where_it_is_whole() -> None:
    """Half an epoch is no new one: what falls there is told, what falls at the next one is not."""
    job = Job()
    story = [job.started(), *trained(job, 100, epoch=0.9), *trained(job, 60, loss=1.4, epoch=1.01)]
    assert incidents_of(story) == []
    job = Job()
    story = [job.started(), *trained(job, 100, epoch=1.2), *trained(job, 60, loss=1.4, epoch=1.4)]
    assert [one["cause"] for one in incidents_of(story)] == ["loss_spike"]


@pytest.mark.parametrize(
    ("epoch", "loss"), [pytest.param(0.0, 1.4, id="without an epoch"), pytest.param(1.0, 0.3, id="far too deep")]
)
def test_a_suspicious_drop_is_told(epoch: float, loss: float) -> None:
    """A fall without a new epoch, and one that no second look at the data explains."""
    job = Job()
    story = [job.started(), *trained(job, 130, epoch=0.0), *trained(job, 60, loss=loss, epoch=epoch)]
    assert [one["cause"] for one in incidents_of(story)] == ["loss_spike"]


def test_a_rise_with_a_new_epoch_is_told() -> None:
    """Nothing becomes harder to predict by having been seen."""
    job = Job()
    story = [job.started(), *trained(job, 130, epoch=0.0), *trained(job, 20, loss=2.6, epoch=1.0)]
    story += trained(job, 40, epoch=1.0)
    assert [one["cause"] for one in incidents_of(story)] == ["loss_spike"]


def test_a_spike_after_a_new_epoch_is_still_told() -> None:
    """The trend has moved with the epoch, and what leaves it stands out as before."""
    job = Job()
    story = [job.started(), *trained(job, 130, epoch=0.0), *trained(job, 40, loss=1.4, epoch=1.0)]
    story += [*trained(job, 5, loss=2.1, epoch=1.0), *trained(job, 40, loss=1.4, epoch=1.0)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("loss_spike", 270)


def skipping(job: Job, scales: list[float], **values: Any) -> Story:  # Any: readings
    """Steps that are skipped, each with its loss scale."""
    return [one for scale in scales for one in job.run(1, skipped=1.0, loss_scale=scale, **{"loss": 9.0, **values})]


@pytest.mark.parametrize("grad_norm", [1.2, float("inf"), float("nan")])
def test_the_search_of_the_loss_scale_is_no_finding(grad_norm: Reading) -> None:
    """From the first step on everything is skipped and the scale is halved until the gradients fit."""
    job = Job(step=1)
    story = [job.started(), *skipping(job, [2.0**32 / 2**i for i in range(18)], grad_norm=grad_norm)]
    story += trained(job, 60, skipped=0.0, loss_scale=2.0**14, grad_norm=1.1)
    story += skipping(job, [2.0**14], grad_norm=grad_norm, loss=2.0)
    assert incidents_of([*story, *trained(job, 60, skipped=0.0, loss_scale=2.0**13, grad_norm=1.1)]) == []


def test_a_search_that_is_not_told_shows_in_the_scale() -> None:
    """Where no log says that steps are skipped, a gradient that overflows and a scale that is halved say it."""
    job = Job(step=1)
    found = 2.0**16
    story: Story = [job.started()]
    for halved in range(8):
        story += job.run(1, loss=9.0, grad_norm=float("inf"), loss_scale=found / 2**halved)
    assert incidents_of([*story, *trained(job, 60, loss_scale=found / 2**8, grad_norm=1.1)]) == []


def test_gradients_that_overflow_at_a_scale_that_stays_are_told() -> None:
    """Nothing has skipped those steps."""
    job = Job(step=1)
    story = [job.started(), *trained(job, 60, loss_scale=512.0, grad_norm=1.1)]
    [incident] = incidents_of([*story, *job.run(5, loss=2.0, grad_norm=float("inf"), loss_scale=512.0)])
    assert [one["detector"] for one in incident["evidence"] if one.get("detector")] == ["nonfinite"]


@pytest.mark.parametrize(
    "scales",
    [
        pytest.param([max(OVER / 2**i, 1.0) for i in range(40)], id="the scale is at its floor"),
        pytest.param([OVER] * 60, id="the scale does not help"),
    ],
)
def test_a_search_that_finds_nothing_is_told(scales: list[float]) -> None:
    """Nothing is learned at a scale that has no way to go, nor after more steps than a search takes."""
    job = Job(step=1)
    [incident] = incidents_of([job.started(), *skipping(job, scales)])
    assert [one["detector"] for one in incident["evidence"] if one.get("detector")] == ["sustained"]


def test_steps_skipped_in_a_row_later_are_told() -> None:
    """Once the scale is found, ten skipped steps in a row are a fault."""
    job = Job(step=1)
    story = [job.started(), *trained(job, 60, skipped=0.0, loss_scale=OVER)]
    [incident] = incidents_of([*story, *skipping(job, [OVER / 2**i for i in range(14)], loss=2.0)])
    assert (incident["cause"], incident["onset_step"]) == ("numeric_blow_up", 61)


def ramped(job: Job, slower: float = 1.0) -> Story:
    """The batch grows a little at each of 120 steps, and what a step does takes as long as before, or longer."""
    story: Story = []
    for grown in range(1, 121):
        factor = (1 + grown / 40) * (slower if grown > 60 else 1.0)
        size = 1 + grown / 40
        story += job.run(1, slow=dict.fromkeys(range(job.size), factor), tokens=1000.0 * size, batch_size=64 * size)
    return story


def test_a_batch_that_grows_at_every_step_slows_nothing() -> None:
    """Steps get four times as long, and do four times as much."""
    job = Job()
    story = [job.started(), *job.run(60, batch_size=64.0), *ramped(job)]
    story += job.run(80, slow=dict.fromkeys(range(job.size), 4.0), tokens=4000.0, batch_size=256.0)
    assert incidents_of(story) == []


def test_a_slowdown_after_the_ramp_is_told() -> None:
    """What is normal was learned anew where the batch stopped growing."""
    job = Job()
    story = [job.started(), *job.run(60, batch_size=64.0), *ramped(job)]
    for factor, steps in ((4.0, 80), (5.5, 60)):
        story += job.run(steps, slow=dict.fromkeys(range(job.size), factor), tokens=4000.0, batch_size=256.0)
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("unknown", 360)
