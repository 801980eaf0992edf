"""What is planned to change changes nothing; what leaves the plan is told."""

import math
from typing import Any

import pytest

from schemas.telemetry import StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

PEAK = 3e-4
WARM, LAST = 180, 1500
"""Steps at which the rate has warmed up, and at which it has come to a tenth."""


def planned(step: float) -> float:
    """A rate that warms up and then falls as a cosine."""
    if step < WARM:
        return PEAK * step / WARM
    return PEAK * (0.55 + 0.45 * math.cos(math.pi * (step - WARM) / (LAST - WARM)))


SCHEDULE = {"learning_rate": [[step, planned(step)] for step in (0, *range(WARM, LAST + 1, 60))]}


def by_plan(job: Job, steps: int, times: float = 1.0) -> list[StepFrame]:
    """Steps at the planned rate, or so many times that."""
    return [frame for _ in range(steps) for frame in job.run(1, learning_rate=times * planned(job.step))]


def begun(**started: Any) -> tuple[Job, Story]:  # Any: data of the start
    """A job at its start."""
    job = Job()
    return job, [job.started(**started)]


def test_a_rate_that_keeps_to_its_schedule_is_silent() -> None:
    """Warm-up and decay between the points of the schedule are by plan."""
    job, story = begun(schedule=SCHEDULE)
    assert incidents_of([*story, *by_plan(job, 400)]) == []


@pytest.mark.parametrize("times", [0.0, 0.4, 2.0, 10.0])
def test_a_rate_that_leaves_its_schedule_is_told(times: float) -> None:
    """Within one attempt, from the first step that is off."""
    job, story = begun(schedule=SCHEDULE)
    story += [*by_plan(job, 150), *by_plan(job, 30, times=times)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["ranks"]) == ("learning_rate_off_schedule", "config", [])
    assert incident["onset_step"] == 250


def test_a_rate_that_comes_back_to_its_schedule_has_an_end() -> None:
    """The last step that was off is the end of it."""
    job, story = begun(schedule=SCHEDULE)
    story += [*by_plan(job, 150), *by_plan(job, 30, times=2.0), *by_plan(job, 150)]
    [incident] = incidents_of(story)
    assert (incident["state"], incident["end_step"]) == ("resolved", 279)


def test_a_single_odd_reading_is_no_finding() -> None:
    """Two readings in a row may be anything."""
    job, story = begun(schedule=SCHEDULE)
    story += [*by_plan(job, 150), *by_plan(job, 2, times=5.0), *by_plan(job, 50)]
    assert incidents_of(story) == []


def test_a_schedule_that_was_never_kept_to_says_nothing() -> None:
    """A launcher may give it in other units."""
    job, story = begun(schedule={"learning_rate": [[0, 100.0], [1000, 10.0]]})
    assert incidents_of([*story, *by_plan(job, 200)]) == []


def test_a_rate_that_a_log_rounds_is_by_plan() -> None:
    """A log that prints five digits shows steps, and zero in the end."""
    points = [[100, 4e-5], [400, 0.0]]
    job, story = begun(schedule={"learning_rate": points})
    for _ in range(300):
        story += job.run(1, learning_rate=round(4e-5 * (400 - job.step) / 300, 5))
    assert incidents_of(story) == []


def test_an_announced_change_of_the_rate_is_the_new_plan() -> None:
    """What is announced by hand replaces the schedule, for the rate alone."""
    job, story = begun(schedule=SCHEDULE)
    story += [*by_plan(job, 150), job.event("config.changed", learning_rate=[PEAK, 2 * PEAK])]
    assert incidents_of([*story, *by_plan(job, 60, times=2.0)]) == []


def test_a_jump_at_a_resume_that_was_planned_is_silent() -> None:
    """Where the schedule says so, another rate after a restart is no broken schedule."""
    schedule = {"learning_rate": [[0, 1e-4], [159, 1e-4], [160, 1e-5], [1000, 1e-5]]}
    job, story = begun(schedule=schedule)
    story += [*job.run(60, learning_rate=1e-4), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(job.step)
    story += [after.started(resume_step=159, schedule=schedule), *after.run(40, learning_rate=1e-5)]
    assert incidents_of(story) == []


def test_a_schedule_that_begins_anew_at_a_resume_is_one_incident() -> None:
    """With a schedule known too, the broken resume is what is told."""
    job, story = begun(schedule=SCHEDULE)
    story += [*by_plan(job, 60), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(job.step)
    story += [after.started(resume_step=159, schedule=SCHEDULE), *after.run(40, learning_rate=1e-6)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("learning_rate_discontinuity", 160)


def longer(job: Job, steps: int, times: float) -> list[StepFrame]:
    """Steps whose work takes so many times as long, on all ranks."""
    return job.run(steps, slow=dict.fromkeys(range(job.size), times))


@pytest.mark.parametrize("signal", ["sequence_length", "batch_size", "tokens"])
def test_a_planned_stage_is_another_normal(signal: str) -> None:
    """Longer steps from the planned step on raise nothing, though no frame tells of batch or length."""
    job, story = begun(schedule={signal: [[0, 2048], [220, 4096], [340, 8192]]})
    story += [*longer(job, 120, 1.0), *longer(job, 120, 1.5), *longer(job, 120, 2.5)]
    assert incidents_of(story) == []


def test_a_change_beside_the_planned_stages_is_told() -> None:
    """The plan explains its own steps and no others."""
    job, story = begun(schedule={"sequence_length": [[0, 2048], [220, 4096]]})
    story += [*longer(job, 120, 1.0), *longer(job, 120, 1.5), *longer(job, 60, 2.0)]
    [incident] = incidents_of(story)
    assert abs(incident["onset_step"] - 340) <= 2


@pytest.mark.parametrize(
    ("trained", "resumed", "times", "told"),
    [
        pytest.param(200, 300, 1.0, False, id="it goes on"),
        pytest.param(200, 300, 1.12, True, id="an eighth more, where the rate falls slowly"),
        pytest.param(200, 270, 1.0, False, id="steps are trained again"),
        pytest.param(200, 270, 0.9, True, id="steps are trained again at another rate"),
        pytest.param(40, 140, 1.12, False, id="while it warms up, a few steps more explain as much"),
    ],
)
def test_a_small_step_of_the_rate_at_a_resume(trained: int, resumed: int, times: float, told: bool) -> None:
    """Nothing was announced; what the rate was just before says how far from it is too far."""
    job, story = begun()
    story += [*by_plan(job, trained), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(resumed)
    story += [after.started(resume_step=resumed - 1), *by_plan(after, 60, times=times)]
    causes = [incident["cause"] for incident in incidents_of(story)]
    assert causes == (["learning_rate_discontinuity"] if told else [])
