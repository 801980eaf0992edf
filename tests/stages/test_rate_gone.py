"""A learning rate that is zero long before the end is told; an end of its schedule is not."""

from collections.abc import Callable

import pytest

from schemas.detection import Detection
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def found(rate: Callable[[int], float], total_steps: int = 1000, steps: int = 200) -> list[Detection]:
    """The findings on a run of so many steps whose rate is given by the number of the step, from zero."""
    job, fed = Job(nodes=1), Fed(Detect())
    fed.feed(job.started(total_steps=total_steps))
    for step in range(steps):
        fed.feed(*job.run(1, learning_rate=rate(step)))
    return [one for one in fed.told(Detection) if one.detector == "rate_gone"]


def down(step: int) -> float:
    """A schedule that has come to its end after a hundred steps."""
    return 3e-4 * max(0.0, 1 - step / 100)


@pytest.mark.parametrize("rate", [down, lambda step: 3e-4 if step < 100 else 0.0], ids=["smoothly", "at once"])
def test_a_rate_that_is_gone_is_told(rate: Callable[[int], float]) -> None:
    """Thirty steps without a rate are told once, with the first of them."""
    (one,) = found(rate)
    assert (one.onset_step, one.before, one.after) == (200, 3e-4, 0.0)


def test_a_rate_that_comes_back_ends_it() -> None:
    """The finding ends with the step that has a rate again."""
    *_, last = found(lambda step: 0.0 if 100 <= step < 150 else 3e-4)
    assert last.end_time is not None


@pytest.mark.parametrize(
    ("rate", "total_steps"),
    [
        pytest.param(down, 205, id="the end of the run"),
        pytest.param(down, 0, id="an end that nobody knows"),
        pytest.param(lambda _: 0.0, 1000, id="a log without digits enough for any rate"),
        pytest.param(lambda step: round(down(step), 4), 1000, id="a log with few digits"),
        pytest.param(lambda step: 3e-4 if step % 40 < 20 else 0.0, 1000, id="pauses shorter than that"),
    ],
)
def test_other_zeros_are_none(rate: Callable[[int], float], total_steps: int) -> None:
    """Where the schedule may be through, or the log too coarse, nothing is told."""
    assert found(rate, total_steps) == []
