"""Error counters that are read by another version of their exporter go on from elsewhere."""

from tests.acceptance.stories import Story, Values, incidents_of, lived
from tests.stages.build import Job


def counted(restarted: bool, again: bool = False) -> Story:
    """The counters of the GPUs of one node jump by hundreds, and count on `again` or stand still."""
    job = Job()
    none = {"nvlink_errors_total": 0.0, "pcie_replays_total": 2.0}
    counts = dict.fromkeys(job.nodes, none)
    story: Story = [job.started(), *lived(job, 200, gpus=counts)]
    story += [job.event("exporter.restarted", node="n2", exporter="dcgm-exporter 4.4.1")] if restarted else []
    for more in range(8):
        grown = 500.0 * more if again else 0.0
        anew: Values = {"nvlink_errors_total": [700.0 + rank + grown for rank in range(4)], "pcie_replays_total": 350.0}
        story += lived(job, 12, gpus={"n1": none, "n2": anew})
    return story


def test_counters_that_jump_with_a_restart_of_their_exporter_are_no_errors() -> None:
    """They count since the GPUs were made, from then on."""
    assert incidents_of(counted(restarted=True)) == []


def test_errors_after_the_restart_are_told() -> None:
    """Only the first reading is taken for granted."""
    assert [one["nodes"] for one in incidents_of(counted(restarted=True, again=True))] == [["n2"]]


def test_counters_that_jump_otherwise_are_errors() -> None:
    """Nobody said that they are read anew."""
    assert [one["nodes"] for one in incidents_of(counted(restarted=False))] == [["n2"]]
