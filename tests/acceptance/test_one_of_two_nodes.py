"""One node of two is slow: half of the peers are no majority, and what each node needed before says which it is."""

from typing import Any

import pytest

from tests.acceptance.stories import Story, incidents_of, lived
from tests.stages.build import Job

HALF = {4: 1.2, 5: 1.2, 6: 1.2, 7: 1.2}
STARVED = {4: 0.9, 5: 0.9, 6: 0.9, 7: 0.9}


def told_after(steps: int = 90, **fault: Any) -> list[dict[str, Any]]:  # Any: options of `lived`, plain data
    """The incidents of a job of two nodes, to which something happens at step 200."""
    job = Job()
    story: Story = [job.started(), *lived(job, 100), *lived(job, steps, **fault)]
    return incidents_of(story)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"slow": HALF}, id="nothing is known but the pace"),
        pytest.param({"starved": STARVED, "nodes": {"n2": {"iowait": 0.2, "disk_latency_seconds": 0.2}}}, id="disk"),
        pytest.param({"starved": STARVED, "nodes": {"n2": {"cpu_util": 0.99, "pressure_cpu": 0.7}}}, id="CPU"),
        pytest.param(
            {"slow": HALF, "nodes": {"n2": {"memory_available_bytes": 6e9, "swap_used_bytes": 4e10}}}, id="swap"
        ),
    ],
)
def test_the_node_that_has_become_slower_is_named(fault: dict[str, Any]) -> None:  # Any: options of `lived`
    """One incident, on the host, since the step at which it began."""
    [incident] = told_after(**fault)
    assert (incident["layer"], incident["nodes"], incident["ranks"]) == ("host", ["n2"], [4, 5, 6, 7])
    assert abs(incident["onset_step"] - 200) <= 2


def test_what_both_nodes_have_is_no_nodes_fault() -> None:
    """All ranks work longer: nobody is named."""
    [incident] = told_after(slow=dict.fromkeys(range(8), 1.2))
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == ("unknown", [], [])


def test_a_node_that_was_always_slower_is_not_named() -> None:
    """Which half is out of order cannot be said where both are as they have always been."""
    job = Job()
    incidents = incidents_of([job.started(), *lived(job, 190, slow=HALF)])
    assert [one for one in incidents if one["nodes"] or one["ranks"]] == []


def test_a_power_brake_on_every_node_accuses_no_machine() -> None:
    """Power that fails everywhere at once is no fault of each machine, and none is to be taken out."""
    [incident] = told_after(
        slow=dict.fromkeys(range(8), 1.8),
        gpus={node: {"sm_clock_mhz": 950.0, "throttle_hw_power_brake": 1.0} for node in ("n1", "n2")},
    )
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == ("gpu_power", [], [])
    cordons = {
        (entry["decision"], entry["reason"]) for entry in incident["actions"] if entry["action"] == "node.cordon"
    }
    assert cordons <= {("refused", "nobody"), ("refused", "unsteady")}


def test_a_whole_nodes_loader_is_the_nodes_matter_in_a_larger_job_too() -> None:
    """Four ranks of sixteen wait for their batches, all on one node: the node is named, not its ranks' loaders."""
    job = Job(nodes=4)
    story: Story = [job.started(), *lived(job, 100), *lived(job, 90, starved=STARVED)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("slow_node", ["n2"])
