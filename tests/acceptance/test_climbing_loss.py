"""A loss that goes up a little with every step is told, and what only looks like it is not."""

import math
from collections.abc import Callable, Iterable
from itertools import zip_longest

import numpy as np
import pytest

from schemas.telemetry import StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

NOISE = np.random.default_rng(3).normal(1.0, 0.02, 2000).tolist()


def losses(job: Job, course: Iterable[float], rates: Iterable[float] = ()) -> list[StepFrame]:
    """Train on with these losses, give or take two percent, and these learning rates."""
    pairs = enumerate(zip_longest(course, rates, fillvalue=1e-4))
    return [one for i, (loss, rate) in pairs for one in job.run(1, loss=loss * NOISE[i], learning_rate=rate)]


def falling(job: Job, steps: int) -> list[StepFrame]:
    """A healthy beginning: the loss falls to 2."""
    return losses(job, (2.0 * (1 + math.exp(-i / 60)) for i in range(steps)))


def climbing(job: Job, steps: int, share: float) -> list[StepFrame]:
    """From 2 on it goes up by a share in all."""
    return losses(job, (2.0 * (1 + share * i / steps) for i in range(steps)))


@pytest.mark.parametrize(("steps", "share"), [(200, 0.4), (200, 0.7), (500, 0.25), (1200, 0.3)])
def test_a_climb_is_one_incident_from_where_it_began(steps: int, share: float) -> None:
    """However slow it is; nobody is to blame, and nothing is stopped."""
    job = Job(1, 2)
    [incident] = incidents_of([job.started(), *falling(job, 400), *climbing(job, steps, share)])
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("loss_climbing", "model", [])
    assert abs(incident["onset_step"] - 500) <= max(60, steps // 10)
    assert {one["action"] for one in incident["actions"] if one["decision"] == "would_act"} <= {"notify"}


def test_a_climb_that_falls_back_is_over() -> None:
    """It has ended when it is back half-way."""
    job = Job(1, 2)
    story: Story = [job.started(), *falling(job, 400), *climbing(job, 200, 0.4), *losses(job, [2.0] * 400)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["state"]) == ("loss_climbing", "resolved")


def level(job: Job) -> list[StepFrame]:
    """It stays where it is."""
    return climbing(job, 600, 0.0)


def wave(job: Job) -> list[StepFrame]:
    """Harder data and easier ones, turn about."""
    return losses(job, (2.0 + 0.1 * math.sin(i / 40) for i in range(600)))


def warming(job: Job) -> list[StepFrame]:
    """The learning rate is raised again, and the loss goes up with it for a while."""
    course = [*(2.0 * (1 + 0.2 * i / 200) for i in range(200)), *(2.4 - 0.002 * i for i in range(200))]
    return losses(job, course, [1e-4 + 1e-5 * min(i, 200) for i in range(400)])


def jump(job: Job) -> list[StepFrame]:
    """Another level at once."""
    return losses(job, [2.3] * 300)


@pytest.mark.parametrize("then", [level, wave, warming, jump])
def test_what_is_no_climb_is_not_called_one(then: Callable[[Job], list[StepFrame]]) -> None:
    """A level, a wave of data, a learning rate that is raised again, and a level that was jumped to."""
    job = Job(1, 2)
    incidents = incidents_of([job.started(), *falling(job, 400), *then(job)])
    assert [one["cause"] for one in incidents if one["cause"] != "loss_spike"] == []
