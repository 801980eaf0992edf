"""Steps that are long at a fixed distance: a loader's stalls are told with their period, plans are not."""

from typing import Any

import numpy as np
import pytest

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def stalling(period: int, **started: Any) -> Story:  # Any: data of the start
    """A job whose loader runs empty at a period from its thirtieth step on."""
    job = Job()
    story: Story = [job.started(**started), *job.run(30)]
    for _ in range(10):
        story += [*job.run(period - 1), *job.run(1, loader=4.0)]
    return story


def text_of(story: Story) -> str:
    """What the one incident of a story says of the stalls."""
    [incident] = incidents_of(story)
    assert incident["cause"] == "recurring_loader_stall"
    return str(next(one["text"] for one in incident["evidence"] if "stall every" in one["text"]))


@pytest.mark.parametrize("name", ["loader_workers", "num_workers"])
def test_the_period_is_the_number_of_workers(name: str) -> None:
    """Where the launcher tells how many workers a loader has, the verdict says that they are as many."""
    text = text_of(stalling(8, config={name: 8}))
    assert "every 8 steps (as many as a loader has workers) since" in text


@pytest.mark.parametrize("config", [{"loader_workers": 4}, {"loader_workers": "8"}, {}, None])
def test_another_number_of_workers_explains_nothing(config: Any) -> None:  # Any: what a launcher may say
    """The period is told alone where the workers are not as many, or not known."""
    text = text_of(stalling(8, config=config))
    assert "every 8 steps since" in text


def test_workers_that_are_changed_are_the_new_ones() -> None:
    """An announced change of the number counts from there on."""
    job = Job()
    story: Story = [job.started(config={"loader_workers": 8}), *job.run(30)]
    story.append(job.event("config.changed", loader_workers=[8, 5]))
    for _ in range(12):
        story += [*job.run(4), *job.run(1, loader=4.0)]
    assert "every 5 steps (as many as a loader has workers)" in text_of(story)


def test_an_evaluation_at_a_period_is_a_plan() -> None:
    """Its data come by the same loader and nobody announces it, but its loss tells what it is."""
    job = Job()
    story: Story = [job.started(), *job.run(30)]
    for _ in range(12):
        story += [*job.run(9), *job.run(1, loader=4.0, valid_loss=2.1)]
    assert incidents_of(story) == []


def test_a_save_at_a_period_is_a_plan() -> None:
    """A log that tells what a save took, and puts it into the step, tells no stall."""
    job = Job()
    story: Story = [job.started(), *job.run(30)]
    for _ in range(12):
        story += [*job.run(9), *job.run(1, loader=4.0, checkpoint_seconds=4.0)]
    assert incidents_of(story) == []


def test_a_loss_of_evaluation_in_every_line_hides_no_stall() -> None:
    """Some logs repeat the last evaluation's loss with every step."""
    job = Job()
    story: Story = [job.started(), *job.run(30, valid_loss=2.1)]
    for _ in range(12):
        story += [*job.run(7, valid_loss=2.1), *job.run(1, loader=4.0, valid_loss=2.1)]
    assert "every 8 steps" in text_of(story)


def pausing(ranks: list[int], factors: list[float], every: int = 24, steps_before: int = 40) -> Story:
    """A job in which one rank after the other pauses for a part of a step, and nothing else happens."""
    job = Job()
    story: Story = [job.started(), *job.run(steps_before)]
    for rank, factor in zip(ranks, factors, strict=True):
        story += [*job.run(every - 1), *job.run(1, slow={rank: factor})]
    return [*story, *job.run(20)]


@pytest.mark.parametrize(
    "factors",
    [
        pytest.param([1.4] * 14, id="by two fifths, always"),
        pytest.param([1.2 + 0.05 * number for number in range(14)], id="by a fifth, and more each time"),
        pytest.param([2.0] * 14, id="twice as long"),
    ],
)
def test_pauses_of_one_rank_after_the_other_are_the_programs(factors: list[float]) -> None:
    """Single steps are longer by what another rank needs each time: one incident, and nobody is to blame."""
    [incident] = incidents_of(pausing([3, 7, 0, 5, 2, 6, 1, 4, 3, 0, 7, 2, 5, 1], factors))
    assert (incident["cause"], incident["layer"], incident["severity"]) == ("garbage_collection", "software", "warning")
    assert (incident["ranks"], incident["nodes"], incident["gpus"]) == ([], [], [])


def test_pauses_that_cost_next_to_nothing_are_not_told() -> None:
    """A tenth of a step every twenty-four is jitter, and so is a fifth of one every hundred."""
    assert incidents_of(pausing([3, 7, 0, 5, 2, 6, 1, 4], [1.1] * 8)) == []
    assert incidents_of(pausing([3, 7, 0, 5], [1.2] * 4, every=100)) == []


def test_pauses_of_all_ranks_at_the_same_steps_are_a_plan() -> None:
    """A collection that is held at the same step everywhere costs a quarter of it, and that is its purpose."""
    job = Job()
    story: Story = [job.started(), *job.run(40)]
    for _ in range(10):
        story += [*job.run(49), *job.run(1, slow=dict.fromkeys(range(8), 1.25))]
    assert incidents_of(story) == []


def test_work_of_uneven_length_is_no_pause() -> None:
    """Another rank has more to do in every step, now and then much more: that is the data's shape from the start."""
    dice = np.random.default_rng(11)
    job = Job()
    story: Story = [job.started()]
    for _ in range(300):
        story += job.run(1, slow=dict(enumerate((1.0 + dice.gamma(1.5, 0.12, 8)).tolist())))
    assert incidents_of(story) == []
