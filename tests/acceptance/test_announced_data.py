"""Other data that were announced move the loss by right, and slow nothing."""

import numpy as np
import pytest

from schemas.telemetry import StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

NOISE = np.random.default_rng(5).normal(1.0, 0.01, 1000).tolist()


def trained(job: Job, steps: int, loss: float, code: float, loader: float = 0.03) -> list[StepFrame]:
    """Steps on this share of code."""
    return [
        frame
        for i in range(steps)
        for frame in job.run(1, loss=loss * NOISE[i], loader=loader, **{"source_share.code": code * NOISE[-i]})
    ]


def other_data(loss: float, announced: bool = True, loader: float = 0.03) -> Story:
    """A job that goes on to another phase of its data after 150 steps."""
    job = Job()
    story: Story = [job.started(), *trained(job, 150, 2.0, 0.17)]
    story += [job.event("config.changed", data_phase=["general", "code"])] if announced else []
    return [*story, *trained(job, 9, loss, 0.56), *trained(job, 120, loss, 0.56, loader)]


@pytest.mark.parametrize("loss", [1.7, 2.0, 2.2])
def test_the_loss_of_an_announced_phase_is_no_finding(loss: float) -> None:
    """Code is easier than prose, and what a batch is made of changes as was said."""
    assert incidents_of(other_data(loss)) == []


def test_the_same_unannounced_is_told() -> None:
    """Nobody wanted it."""
    assert {one["layer"] for one in incidents_of(other_data(1.7, announced=False))} <= {"data", "model"}
    assert incidents_of(other_data(1.7, announced=False)) != []


def test_announced_data_that_come_slower_are_told() -> None:
    """A step has as much to do as before: the job waits for its loader since nine prefetched batches are gone."""
    [incident] = incidents_of(other_data(1.7, loader=0.4))
    assert (incident["cause"], incident["onset_step"]) == ("loader_starved", 259)


def test_another_change_announced_with_it_makes_another_pace_normal() -> None:
    """Longer sequences cost more."""
    job = Job()
    story: Story = [job.started(), *trained(job, 150, 2.0, 0.17)]
    story += [job.event("config.changed", data_phase=["general", "code"], sequence_length=[4096, 8192])]
    assert incidents_of([*story, *job.run(120, loss=2.0, slow=dict.fromkeys(range(8), 1.3))]) == []
