"""One fault that shows in two ways is one incident, and what was over before it began is no part of it."""

import pytest

from tests.acceptance.stories import Story, incidents_of, lived
from tests.stages.build import Job

NODES = 4


def job_with(steps: int) -> tuple[Job, Story]:
    """A job that trains well for a while."""
    job = Job(NODES)
    return job, [job.started(), *lived(job, steps)]


def test_bad_samples_and_the_wait_for_better_ones() -> None:
    """Samples that are thrown away make the loader work longer: the data are at fault, not the loader."""
    job = Job()
    story: Story = [job.started(), *job.run(150, bad_sample_share=0.0, grad_norm=0.3)]
    story += [*job.run(1, bad_sample_share=0.0, grad_norm=0.9), *job.run(99, bad_sample_share=0.0, grad_norm=0.3)]
    story += job.run(120, bad_sample_share=0.35, grad_norm=0.3, loader=0.4)
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"]) == ("data_fault", "data")
    assert abs(incident["onset_step"] - 350) <= 15


def test_a_node_that_swaps_and_slows_everybody_down() -> None:
    """A node that has run out of memory is slow because of it."""
    job, story = job_with(120)
    for gone in range(60):
        story += lived(job, 2, nodes={"n2": {"memory_available_bytes": 8e11 - 1.3e10 * gone, "swap_used_bytes": 0.0}})
    swapping = {"n2": {"memory_available_bytes": 5e9, "swap_used_bytes": 4e10}}
    story += lived(job, 150, slow=dict.fromkeys(range(4, 8), 1.3), nodes=swapping)
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("host_memory", ["n2"])


def test_a_node_that_is_slow_with_memory_to_spare() -> None:
    """Without a sign of its memory a slow node stays a slow node."""
    job, story = job_with(120)
    story += lived(job, 150, slow=dict.fromkeys(range(4, 8), 1.3))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("slow_node", ["n2"])


@pytest.mark.parametrize(
    ("slow", "cause"),
    [
        pytest.param((8, 9, 10, 11), "slow_node", id="a socket"),
        pytest.param((8, 9, 10), "slow_gpu", id="three of eight"),
        pytest.param((8,), "slow_gpu", id="one"),
    ],
)
def test_half_of_a_node_is_slow_for_what_it_has_in_common(slow: tuple[int, ...], cause: str) -> None:
    """Four GPUs of eight hang on one socket, and hardly fail together; fewer may each be slow for themselves."""
    job = Job(nodes=4, ranks=8)
    story: Story = [job.started(), *job.run(120), *job.run(80, slow=dict.fromkeys(slow, 1.15))]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == (cause, ["n2"])
