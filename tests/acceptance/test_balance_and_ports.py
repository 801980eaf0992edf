"""Work that is out of balance blames nobody, and a port that counts errors is told before it costs anything."""

import numpy as np

from schemas.telemetry import Event, SampleFrame, StepFrame
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

STAGES = [{"rank": rank, "node": f"n{rank // 4 + 1}", "gpu": f"GPU-{rank}", "pp": rank // 4} for rank in range(8)]
PORTS = ["mlx5_0", "mlx5_1"]


def uneven(job: Job, steps: int, **values: float) -> Story:
    """Steps in each of which another rank has the longest sequences."""
    dice = np.random.default_rng(7)
    return [frame for _ in range(steps) for frame in job.run(1, slow={int(dice.integers(8)): 1.5}, **values)]


def test_a_job_that_waits_for_the_longest_sequences_blames_nobody() -> None:
    """The slowest is another rank in every step: it is the data's shape, and no machine's fault."""
    job = Job()
    story: Story = [job.started(), *job.run(80), *uneven(job, 260)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"]) == ("uneven_sequences", "data")
    assert (incident["ranks"], incident["nodes"]) == ([], [])


def test_sequences_that_were_always_uneven_are_no_incident() -> None:
    """What a job has been like from its first step on is how it is."""
    job = Job()
    story: Story = [job.started(), *uneven(job, 400)]
    assert incidents_of(story) == []


def test_experts_that_are_busy_in_turn_are_not_called_sequences() -> None:
    """The router says which of the two it is."""
    job = Job()
    story: Story = [job.started(), *job.run(80, expert_load_ratio=1.1), *uneven(job, 260, expert_load_ratio=3.0)]
    assert [one["cause"] for one in incidents_of(story)] == ["expert_imbalance"]


def test_a_stage_that_all_others_wait_for_is_a_matter_of_the_layout() -> None:
    """All ranks of one stage work longer, and the bubble grows: none of them is slower than its peers."""
    job = Job()
    late = dict.fromkeys(range(4, 8), 1.4)
    story: Story = [
        job.started(placement=STAGES),
        *job.run(80, bubble_share=0.1),
        *job.run(120, slow=late, bubble_share=0.3),
    ]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"]) == ("stage_imbalance", "config")
    assert (incident["ranks"], incident["nodes"]) == ([], [])


def test_one_slow_rank_of_a_stage_is_still_the_one_to_blame() -> None:
    """A bubble that one rank makes is no matter of the layout."""
    job = Job(nodes=4)
    stages = [{"rank": rank, "node": f"n{rank // 4 + 1}", "gpu": f"GPU-{rank}", "pp": rank // 8} for rank in range(16)]
    slow = {9: 1.4}
    story: Story = [
        job.started(placement=stages),
        *job.run(80, bubble_share=0.1),
        *job.run(120, slow=slow, bubble_share=0.3),
    ]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"]) == ("slow_gpu", [9])


def counted(job: Job, steps: int, errors: float) -> list[StepFrame | SampleFrame]:
    """Steps with a sample of the ports of both nodes after every fifth."""
    told: list[StepFrame | SampleFrame] = []
    for step in range(steps):
        told += job.run(1)
        if step % 5 == 4:
            told += [
                job.sample("nic", PORTS, node, nic_errors_total=[errors if node == "n2" else 0.0, 0.0])
                for node in job.nodes
            ]
    return told


def test_a_port_that_counts_errors_is_told_and_wakes_nobody() -> None:
    """The job goes on as fast as before: it is worth a line, with the node whose port it is."""
    job = Job()
    story: Story = [job.started(), *counted(job, 300, 0.0), *counted(job, 60, 400.0)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["severity"], incident["nodes"]) == ("port_errors", "info", ["n2"])


def test_ports_of_all_nodes_alike_name_no_node() -> None:
    """What every port counts comes from behind them."""
    job = Job()
    story: list[StepFrame | SampleFrame | Event] = [job.started(), *counted(job, 300, 0.0)]
    for _ in range(12):
        story += job.run(5)
        story += [job.sample("nic", PORTS, node, nic_errors_total=[400.0, 0.0]) for node in job.nodes]
    assert {node for one in incidents_of(story) for node in one["nodes"]} == set()


def with_experts(job: Job) -> list[dict[str, object]]:
    """The placement of a job in which each rank of a node holds other experts, and all nodes hold the same."""
    return [
        {"rank": rank, "node": job.node_of(rank), "gpu": f"GPU-{rank}", "ep": rank % job.ranks, "dp": rank // job.ranks}
        for rank in range(job.size)
    ]


def test_the_same_experts_slow_on_every_node_are_no_broken_gpus() -> None:
    """Four nodes, on each the third rank: what they have in common is what they hold, not a machine."""
    job = Job(nodes=4)
    story: Story = [job.started(placement=with_experts(job)), *job.run(80)]
    story += job.run(60, slow=dict.fromkeys((2, 6, 10, 14), 1.3))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"]) == ("slow_experts", "model")
    assert (incident["ranks"], incident["nodes"], incident["gpus"]) == ([], [], [])


def test_ranks_that_are_slow_on_all_nodes_accuse_no_gpu() -> None:
    """Nothing is known of the layout: machines of all nodes do not break at once."""
    job = Job(nodes=4)
    story: Story = [job.started(), *job.run(80), *job.run(60, slow=dict.fromkeys((1, 7, 8, 14), 1.3))]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("slow_positions", [], [])


def test_one_gpu_is_still_to_blame_in_a_job_with_experts() -> None:
    """The other holders of its experts are as fast as ever."""
    job = Job(nodes=4)
    story: Story = [job.started(placement=with_experts(job)), *job.run(80), *job.run(60, slow={6: 1.3})]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("slow_gpu", [6], ["n2"])


def test_a_node_that_is_slow_as_a_whole_is_no_matter_of_positions() -> None:
    """All ranks of one node and a lone one elsewhere: the node is named."""
    job = Job(nodes=4)
    slow = dict.fromkeys((4, 5, 6, 7), 1.3)
    story: Story = [job.started(placement=with_experts(job)), *job.run(80), *job.run(60, slow=slow)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("slow_node", ["n2"])
