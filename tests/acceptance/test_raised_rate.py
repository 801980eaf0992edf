"""A learning rate that is raised in the middle of a run is why the loss goes up, and no finding where it does not."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from schemas.telemetry import StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

NOISE = np.random.default_rng(3).normal(1.0, 0.02, 2000).tolist()
LOSS = 2.0


def decaying(step: int) -> float:
    """A cosine over eight thousand steps."""
    return 1.5e-4 * (1 + math.cos(math.pi * step / 8000))


def trained(job: Job, steps: int, rises: Callable[[int], float], times: float = 1.0) -> list[StepFrame]:
    """Train on at so many times the rate of the schedule, with a loss that has risen by this after so many steps."""
    return [
        frame
        for i in range(steps)
        for frame in job.run(
            1, loss=(LOSS + rises(i)) * NOISE[job.step % 2000], learning_rate=times * decaying(job.step)
        )
    ]


def level(_: int) -> float:
    """As before."""
    return 0.0


def at_once(_: int) -> float:
    """A higher level from the first step on."""
    return 0.8


def slowly(step: int) -> float:
    """Higher with every step, ever more slowly."""
    return 0.9 * (1 - math.exp(-step / 150))


def away(step: int) -> float:
    """Higher and higher."""
    return min(6.0, step / 10)


def better(step: int) -> float:
    """Lower with every step."""
    return -0.1 * (1 - math.exp(-step / 100))


def raised(rises: Callable[[int], float], times: float = 10.0, announced: bool = False) -> Story:
    """A settled run whose learning rate is raised after 400 steps."""
    job = Job(1, 2)
    story: Story = [job.started(), *trained(job, 400, level)]
    story += [job.event("config.changed", learning_rate=[3e-4, 3e-3])] if announced else []
    return [*story, *trained(job, 400, rises, times)]


@pytest.mark.parametrize("rises", [at_once, slowly, away])
def test_a_loss_that_goes_up_with_the_rate_is_the_rates_matter(rises: Callable[[int], float]) -> None:
    """However the loss goes up: someone has changed the rate, and the incident begins there."""
    [incident] = incidents_of(raised(rises))
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("learning_rate_jumped", "config", [])
    assert 480 <= incident["onset_step"] <= 500
    assert {one["action"] for one in incident["actions"]} == {"notify"}


@pytest.mark.parametrize("rises", [level, better])
def test_a_rate_that_does_no_harm_is_no_finding(rises: Callable[[int], float]) -> None:
    """Schedules that begin anew raise it on purpose."""
    assert incidents_of(raised(rises)) == []


@pytest.mark.parametrize("story", [raised(at_once, times=1.3), raised(at_once, announced=True)])
def test_a_loss_that_goes_up_without_such_a_jump_is_not_put_down_to_it(story: Story) -> None:
    """A third more is hardly why; what was announced is known."""
    assert [one["cause"] for one in incidents_of(story)] == ["loss_spike"]


def test_a_schedule_that_has_jumped_so_before_is_one_that_does() -> None:
    """The loss goes up once more when a later peak is reached: by then the peaks are the schedule's."""
    job = Job(1, 2)
    story: Story = [job.started()]
    for _ in range(3):
        story += [*trained(job, 200, level), *trained(job, 200, level, times=10.0)]
    story += [*trained(job, 200, level), *trained(job, 300, slowly, times=10.0)]
    assert [one["cause"] for one in incidents_of(story)] == ["loss_climbing"]
