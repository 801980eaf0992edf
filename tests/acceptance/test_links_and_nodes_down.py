"""Links that are slow, flap or count errors, memory that fails at last, and a node that is no more."""

from typing import Any

import pytest
from msgspec import structs

from tests.acceptance.stories import Story, Values, incidents_of, lived, timed_out
from tests.stages.build import Job


def fields(incident: dict[str, Any]) -> tuple[Any, ...]:  # Any: plain data
    """What an incident says of cause and culprit."""
    return incident["cause"], incident["layer"], incident["nodes"]


def test_a_port_below_its_speed_is_named() -> None:
    """All collectives take longer, one port runs at a quarter of its speed: that node, and no congestion."""
    job = Job(nodes=4)
    slow = {"n3": {"link_bytes_per_second": 1.25e10}}
    usual = {node: {"link_bytes_per_second": 5e10} for node in job.nodes}
    story: Story = [job.started(), *lived(job, 100, nodes=usual)]
    story += lived(job, 60, waits=0.4, nodes={**usual, **slow})
    [incident] = incidents_of(story)
    assert fields(incident) == ("slow_port", "network", ["n3"])


def test_a_link_that_goes_down_is_told_and_one_that_is_up_is_not() -> None:
    """A port that is up is healthy; one that was up and is down is named; one without a cable has never been up."""
    job = Job(nodes=4)
    well = {"n1": {"link_up": 1.0}, "n2": {"link_up": 0.0}, "n3": {"link_up": 1.0}, "n4": {"link_up": 1.0}}
    story: Story = [job.started(), *lived(job, 100, nodes=well)]
    assert incidents_of(story) == []
    story += [*lived(job, 30, waits=0.8, nodes={**well, "n3": {"link_up": 0.0}}), *lived(job, 30, nodes=well)]
    [incident] = incidents_of(story)
    assert fields(incident) == ("link_flap", "network", ["n3"])


def test_slow_collectives_with_errors_of_one_nvlink_are_that_gpus() -> None:
    """No port counts errors, one GPU's links do since the collectives are slow."""
    job = Job()
    none, errors = {"nvlink_errors_total": 0.0}, 0.0
    story: Story = [job.started(), *lived(job, 200, gpus=dict.fromkeys(job.nodes, none))]
    for _ in range(6):
        errors += 500.0
        story += lived(
            job, 10, waits=0.3, gpus={"n1": {"nvlink_errors_total": [0.0, 0.0, errors, 0.0]}, "n2": dict(none)}
        )
    [incident] = incidents_of(story)
    assert fields(incident) == ("gpu_link", "interconnect", ["n1"])
    assert incident["ranks"] == [2]


def test_a_double_bit_error_and_its_remapping_are_one_incident() -> None:
    """The row that is to be remapped is that of the error which has just ended the job."""
    job = Job()
    story: Story = [job.started(), *lived(job, 60)]
    for code in (48, 63, 94):
        job.time += 0.1
        story.append(job.event("xid", node="n2", subject="GPU-5", code=code, pci="0000:3b:00"))
    story.append(job.event("rank.exit", node="n2", rank=5, exit_code=1))
    story.append(job.event("attempt.ended", reason="failed"))
    [incident] = incidents_of(story)
    assert fields(incident) == ("gpu_failed", "gpu", ["n2"])


@pytest.mark.parametrize("missed", [True, False], ids=["the scheduler misses it", "nobody misses it"])
def test_a_node_that_says_nothing_while_the_job_stands_is_down(missed: bool) -> None:
    """The others wait for it and time out; their GPUs draw as much power as ever, which is no sign of progress."""
    job = Job()
    story: Story = [job.started(), *lived(job, 100)]
    for second in range(0, 700, 10):
        job.time += 10.0
        for node in ("n1",):
            cards = [f"GPU-{rank}" for rank in range(4)]
            story.append(job.sample("gpu", cards, node, list(range(4)), gpu_util=[0.98] * 4, power_watts=[640.0] * 4))
        if missed and second == 90:
            story.append(job.event("node.missing", node="scheduler", subject="n2"))
    story += [*timed_out(job, range(4)), job.event("attempt.ended", reason="failed")]
    [incident] = incidents_of(story)
    assert fields(incident) == ("node_down", "host", ["n2"])


def test_a_process_killed_where_memory_had_run_out_is_the_hosts_matter() -> None:
    """The kernel's line was not read; the signal and the memory left say it, and a stopped job is no trifle."""
    job = Job()
    story: Story = [job.started(), *lived(job, 100)]
    story += lived(job, 60, nodes={"n2": {"memory_available_bytes": 3e9}})
    story.append(job.event("rank.exit", node="n2", rank=6, exit_code=-9))
    story.append(job.event("attempt.ended", reason="failed", exit_code=1))
    [incident] = incidents_of(story)
    assert fields(incident) == ("host_memory", "host", ["n2"])
    assert incident["severity"] == "error"


def test_who_complains_of_a_closed_connection_is_not_who_closed_it() -> None:
    """Four ranks of one node tell that their peer went away, and end; the peer's own end was not seen."""
    job = Job()
    story: Story = [job.started(), *lived(job, 100)]
    for rank in range(4):
        event = job.event("nccl.error", node="n1", status=5, peer="n2", rank=rank)
        story.append(
            structs.replace(event, text="NCCL WARN Call to recv from n2<48231> failed : Connection reset by peer")
        )
    story.append(job.event("rank.exit", node="n1", rank=0, exit_code=1))
    story.append(job.event("attempt.ended", reason="failed", exit_code=1))
    [incident] = incidents_of(story)
    assert fields(incident) == ("job_failed", "unknown", [])


def test_a_fatal_link_error_and_what_follows_from_it_are_one_story() -> None:
    """The driver stops what ran on the GPUs behind a broken link, and says so; nobody's program is at fault."""
    job = Job()
    story: Story = [job.started(), *job.run(40)]
    lines = [(149, "NETIR_LINK_EVT Fatal Link 04"), (145, "RLW_RXPIPE Nonfatal Link 03")]
    for rank, (code, text) in enumerate(lines, 4):
        line = job.event("xid", node="n2", subject=f"GPU-{rank}", code=code)
        story.append(structs.replace(line, text=text))
    for rank in range(4, 8):
        line = job.event("xid", node="n2", subject=f"GPU-{rank}", code=45)
        story.append(structs.replace(line, text="Ch 00000001 caused by previous Xid 145"))
    job.time += 2.0
    for rank in range(4, 8):
        story.append(job.event("rank.error", node="n2", rank=rank, error="CUDA error: uncorrectable NVLink error"))
        job.time += 0.1
    story += [job.event("rank.exit", node="n2", rank=rank, exit_code=1) for rank in range(4, 8)]
    job.time += 15.0
    story.append(job.event("attempt.ended", reason="failed", exit_code=1))
    [found] = incidents_of(story)
    assert (found["cause"], found["severity"], found["nodes"]) == ("gpu_link", "error", ["n2"])
    assert found["gpus"] == ["GPU-4", "GPU-5"]


def test_a_channel_stopped_by_itself_is_still_the_programs() -> None:
    """Without a fault before it, the same code says that a program was ended or went wrong."""
    job = Job()
    story: Story = [job.started(), *job.run(40), job.event("xid", node="n2", subject="GPU-4", code=45)]
    job.time += 2.0
    story += [job.event("rank.exit", node="n2", rank=4, exit_code=1)]
    job.time += 15.0
    story.append(job.event("attempt.ended", reason="failed", exit_code=1))
    assert [one["layer"] for one in incidents_of(story)] == ["software"]


def lost_by_peers(*speaking: str, named: str = "n3", by: tuple[str, ...] = ("n2", "n4"), flaps: bool = False) -> Story:
    """Collectives fail on one node; four minutes later the attempt ends, and goes on without that node.

    Args:
        speaking: nodes that are still read meanwhile.
        named: whom the errors name.
        by: who has them.
        flaps: a port of the node is seen to go down.
    """
    job = Job(nodes=4)
    story: Story = [job.started(), *lived(job, 100)]
    for moment in range(24):
        job.time += 10.0
        for node in speaking:
            ranks = [rank for rank in range(job.size) if job.node_of(rank) == node]
            story.append(job.sample("gpu", [f"GPU-{rank}" for rank in ranks], node, ranks, power_watts=[180.0] * 4))
        if moment == 2:
            story += [job.event("nccl.port_error", node=named, subject="mlx5_0")] if flaps else []
            story += [job.event("nccl.error", node=node, status=12, vendor_err=129, peer=named) for node in by]
    story.append(job.event("attempt.ended", reason="failed", exit_code=1))
    after = job.restarted(200)
    after.nodes = ["n1", "n2", "n9", "n4"]
    return [*story, after.started(resume_step=199), *lived(after, 60)]


def test_a_node_that_its_peers_lost_and_that_says_nothing_more_went_down() -> None:
    """No scheduler reports it; its neighbours' collectives fail on it, and it alone has fallen silent."""
    [found] = incidents_of(lost_by_peers("n1", "n2", "n4"))
    assert fields(found) == ("node_lost", "host", ["n3"])
    assert "n2, n4 lost it as their peer" in " ".join(one["text"] for one in found["evidence"])


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(lost_by_peers("n1", "n2", "n3", "n4"), id="it still speaks"),
        pytest.param(lost_by_peers("n1", "n2", "n3", "n4", by=("n2",)), id="one neighbour alone lost it"),
        pytest.param(lost_by_peers("n1", "n2", "n3", "n4", named="10.0.0.3"), id="an address that is no node's name"),
    ],
)
def test_errors_of_collectives_alone_say_neither_link_nor_node(story: Story) -> None:
    """What failed between two nodes is not known without a port or a node that shows it."""
    [found] = incidents_of(story)
    assert fields(found) == ("job_failed", "unknown", [])


def test_a_port_that_went_down_long_before_the_job_failed_of_it_is_one_story() -> None:
    """Time-outs are long: nothing was trained between the two."""
    [found] = incidents_of(lost_by_peers("n1", "n2", "n3", "n4", flaps=True))
    assert fields(found) == ("link_flap", "network", ["n3"])


@pytest.mark.parametrize(("lanes", "cause"), [(4.0, "gpu_link"), (16.0, "slow_gpu")])
def test_a_slow_gpu_that_has_lost_lanes_is_the_links_matter(lanes: float, cause: str) -> None:
    """A trainer that does not time its copies shows them as compute; the lanes tell what is slow."""
    job = Job(nodes=4)
    usual: dict[str, Values] = {node: {"pcie_width": 16.0} for node in job.nodes}
    fewer: dict[str, Values] = {**usual, "n2": {"pcie_width": [16.0, lanes, 16.0, 16.0]}}
    story: Story = [job.started(), *lived(job, 120, gpus=usual), *lived(job, 120, slow={5: 1.12}, gpus=fewer)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == (cause, ["n2"], [5])
