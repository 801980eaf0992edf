"""A loader worker that dies, and the rank that goes on with fewer of them."""

from typing import Any

import pytest

from tests.acceptance.stories import Story, incidents_of, lived
from tests.stages.build import Job


def killed(goes_on: bool, **data: Any) -> Story:  # Any: event data
    """A worker of rank 9 dies; the job goes on, and waits for that rank's batches, or fails."""
    job = Job(nodes=2, ranks=8)
    story: Story = [job.started(), *lived(job, 100), job.event("worker.killed", node="n2", pid=77, signal=9, **data)]
    if goes_on:
        return [*story, *lived(job, 100, starved={**dict.fromkeys(range(16), 0.0), 9: 0.4})]
    story += [job.event("rank.exit", node="n2", rank=9, exit_code=1)]
    return [*story, job.event("attempt.ended", reason="failed")]


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("data", [{"rank": 9}, {}], ids=["the rank is told", "only the node is known"])
def test_a_dead_worker_and_the_slow_loader_after_it_are_one_incident(goes_on: bool, data: dict[str, Any]) -> None:
    """It names the rank where that is known, from the event or from its loader; else the ranks of the node."""
    [incident] = incidents_of(killed(goes_on, **data))
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("loader_worker_died", "host", ["n2"])
    assert incident["ranks"] == ([9] if goes_on or data else list(range(8, 16)))


def test_a_slow_loader_without_a_dead_worker_is_the_datas_matter() -> None:
    """Nothing was killed."""
    story = [one for one in killed(True) if getattr(one, "event", "") != "worker.killed"]
    assert [one["cause"] for one in incidents_of(story)] == ["slow_loader_on_one_rank"]
