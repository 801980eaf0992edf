"""Saves that are written while the job trains on: what they do to the steps beside them is theirs, told once."""

from collections.abc import Mapping

import pytest

from streams.stages.detect.beside_saves import BesideSaves, begun, ended, explains
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

ALL, WRITER = dict.fromkeys(range(8), 3.0), {0: 1.3}


def trained(
    job: Job, saves: int, beside: int, slow: Mapping[int, float], slow_steps: int, mode: str = "async"
) -> Story:
    """Saves every sixty steps that are written for some steps, the first of which some ranks are slow in."""
    story: Story = []
    for _ in range(saves):
        story += job.run(60)
        step = job.step - 1
        story.append(job.event("checkpoint.begin", "n1", step=step, mode=mode))
        story += job.run(slow_steps, slow=slow)
        story += job.run(beside - slow_steps)
        story.append(job.event("checkpoint.end", "n1", step=step, mode=mode))
    return [*story, *job.run(40)]


@pytest.mark.parametrize(
    ("slow", "slow_steps"), [pytest.param(ALL, 2, id="all ranks at first"), pytest.param(WRITER, 20, id="its writer")]
)
def test_steps_that_saves_slow_down_are_one_matter_of_the_saves(slow: Mapping[int, float], slow_steps: int) -> None:
    """Six saves, each time: one incident, nobody to blame, no collection of garbage and nothing unknown."""
    job = Job()
    [incident] = incidents_of([job.started(), *trained(job, 6, 20, slow, slow_steps)])
    assert (incident["cause"], incident["layer"]) == ("saves_slow_training", "checkpoint")
    assert (incident["ranks"], incident["nodes"], incident["severity"]) == ([], [], "warning")


def test_saves_that_cost_next_to_nothing_are_not_told() -> None:
    """Two steps a fifth longer with each save are the price of saving."""
    job = Job()
    assert incidents_of([job.started(), *trained(job, 6, 20, dict.fromkeys(range(8), 1.2), 2)]) == []


def test_a_rank_that_stays_slow_after_the_save_is_named() -> None:
    """It became slow as the save began, by chance, and is still slow when that has long ended."""
    job = Job()
    story: Story = [job.started(), *trained(job, 2, 20, {}, 0)]
    step = job.step - 1
    story.append(job.event("checkpoint.begin", "n1", step=step, mode="async"))
    story += job.run(20, slow={6: 1.4})
    story += [job.event("checkpoint.end", "n1", step=step, mode="async"), *job.run(60, slow={6: 1.4})]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"]) == ("slow_gpu", [6])


def test_a_rank_that_becomes_slow_within_a_save_is_named_at_once() -> None:
    """The save had done nothing to the steps before: it is not suspected."""
    job = Job()
    story: Story = [job.started(), *job.run(60), job.event("checkpoint.begin", "n1", step=160, mode="async")]
    story += [*job.run(10), *job.run(60, slow={6: 1.4})]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"], incident["onset_step"]) == ("slow_gpu", [6], 170)


def test_steps_that_were_slow_before_are_none_of_the_saves() -> None:
    """Three slow steps come before the save begins."""
    memory, time = BesideSaves(), 0.0
    told = []
    for number, seconds in enumerate([1.0] * 30 + [1.5] * 3 + [1.5] * 6):
        if number == 33:
            begun(memory, 33, time)
        told.append(explains(memory, time, time + seconds, seconds))
        time += seconds
    assert not any(told)


def test_a_save_that_lasts_explains_no_more_than_earlier_ones_took() -> None:
    """The first two slow the job down for seven minutes each, of which five are excused; the third for all of it."""
    memory, time = BesideSaves(), 0.0
    excused = []
    for save in range(3):
        for seconds in [10.0] * 30:
            explains(memory, time, time + seconds, seconds)
            time += seconds
        begun(memory, save, time)
        told = []
        for _ in range(35):
            told.append(explains(memory, time, time + 12.0, 12.0))
            time += 12.0
        ended(memory, save, time)
        excused.append(sum(told))
    assert excused == [25, 25, 35]


def waiting(job: Job, saves: int, seconds: float, mode: str = "async") -> Story:
    """Saves every forty steps, each of which has to wait for the end of the one before, between two steps."""
    story: Story = [*job.run(40), job.event("checkpoint.begin", "n1", step=job.step - 1, mode=mode)]
    for _ in range(saves):
        saved = job.step - 1
        story += job.run(40)
        job.time += seconds
        story.append(job.event("checkpoint.end", "n1", step=saved, mode=mode))
        story.append(job.event("checkpoint.begin", "n1", step=job.step - 1, mode=mode))
    return [*story, *job.run(20)]


def test_a_job_that_waits_for_the_save_before_is_told() -> None:
    """The steps themselves are as long as ever; what is lost lies between them."""
    job = Job()
    [incident] = incidents_of([job.started(), *waiting(job, 6, 12.0)])
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("saves_slow_training", "checkpoint", [])
    assert any("waits for the save before" in one["text"] for one in incident["evidence"])


def test_waiting_that_costs_next_to_nothing_is_not_told() -> None:
    """Half a second of forty."""
    job = Job()
    assert incidents_of([job.started(), *waiting(job, 6, 0.5)]) == []
