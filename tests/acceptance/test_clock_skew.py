"""A node whose clock is wrong by a minute and more is told, and nothing else is made of it."""

import pytest
from msgspec import structs

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job


def skewed(job: Job, *skews: float, node: str = "n3") -> Story:
    """Steps at each of which the clock of a node is wrong by so many seconds."""
    story: Story = []
    for skew in skews:
        story += [structs.replace(one, time=one.time + skew * (one.node == node)) for one in job.run(1)]
    return story


@pytest.mark.parametrize("skew", [-400.0, -70.0, 70.0, 200.0])
def test_a_wrong_clock_is_the_nodes(skew: float) -> None:
    """One incident of the monitoring, with the node and since when."""
    job = Job(nodes=4, ranks=2)
    story: Story = [job.started(), *skewed(job, *[0.0] * 60, *[skew] * 80)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("clock_wrong", "monitoring", ["n3"])
    assert incident["onset_step"] == 160


def test_a_clock_that_drifts_is_told_when_it_is_a_minute_off() -> None:
    """Half a second with every step."""
    job = Job(nodes=4, ranks=2)
    story: Story = [job.started(), *skewed(job, *(0.5 * step for step in range(200)))]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"], incident["onset_step"]) == ("clock_wrong", ["n3"], 220)


@pytest.mark.parametrize("skews", [[20.0] * 100, [0.0] * 60 + [90.0] * 3 + [0.0] * 60])
def test_seconds_and_late_records_are_none(skews: list[float]) -> None:
    """Twenty seconds are common, and three records may be held up."""
    job = Job(nodes=4, ranks=2)
    assert incidents_of([job.started(), *skewed(job, *skews)]) == []


def test_of_two_clocks_nobody_knows_which_is_wrong() -> None:
    """Both are as far from each other."""
    job = Job(nodes=2, ranks=2)
    story: Story = [job.started(), *skewed(job, *[-90.0] * 100, node="n2")]
    assert "clock_wrong" not in {one["cause"] for one in incidents_of(story)}
