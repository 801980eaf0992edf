"""Benchmarks that carry a target: one that is missed is told, with the node that all of them have in common."""

import pytest

from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Job

GOOD, LOW, TARGET = 390e9, 250e9, 370e9


def benchmarks(*results: tuple[str, float], what: str = "nccl all_reduce", minutes: float = 1.0) -> Story:
    """Benchmarks of some nodes, named by digits, one a minute, and what they reached."""
    job, story = Job(), list[object]()
    for nodes, reached in results:
        job.time += 60.0 * minutes
        names = [f"n{one}" for one in nodes]
        event = job.event("benchmark", names[0], what=what, bus_bytes_per_second=reached, target=TARGET, nodes=names)
        story.append(event)
    return [*story]  # type: ignore[list-item]


def test_the_node_that_all_low_benchmarks_have_is_named() -> None:
    """Three pairs with one node are slow, three without it are not: one incident of the network."""
    story = benchmarks(("12", GOOD), ("13", LOW), ("34", LOW), ("24", GOOD), ("35", LOW), ("25", GOOD))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("links_below_target", "network", ["n3"])
    assert "3 of 6 benchmarks" in incident["evidence"][1]["text"]


@pytest.mark.parametrize("results", [(("12", LOW), ("34", LOW)), (("12", LOW),), (("1234", LOW), ("1234", LOW))])
def test_low_benchmarks_without_a_common_node_accuse_nobody(results: tuple[tuple[str, float], ...]) -> None:
    """They are told all the same."""
    [incident] = incidents_of(benchmarks(*results))
    assert (incident["cause"], incident["nodes"]) == ("links_below_target", [])


@pytest.mark.parametrize(
    ("what", "cause", "layer"),
    [
        ("nvlink p2p", "node_links_below_target", "interconnect"),
        ("h2d", "node_links_below_target", "interconnect"),
        ("gemm bf16", "gpu_below_target", "gpu"),
    ],
)
def test_a_node_alone_below_target_is_named(what: str, cause: str, layer: str) -> None:
    """What was measured says which part of it."""
    [incident] = incidents_of(benchmarks(("1", GOOD), ("2", LOW), ("3", GOOD), what=what))
    assert (incident["cause"], incident["layer"], incident["nodes"]) == (cause, layer, ["n2"])


def test_storage_below_its_target_is_the_mounts_matter() -> None:
    """Nobody's node is to blame."""
    job = Job()
    story: Story = [
        job.event("benchmark", node, "/data", what="disk_write", bytes_per_second=1e9, target=2e9) for node in job.nodes
    ]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("storage_below_target", "storage", [])


@pytest.mark.parametrize(("last", "state"), [(LOW, "open"), (GOOD, "recovering")])
def test_it_is_over_when_the_target_is_reached(last: float, state: str) -> None:
    """The same benchmarks, repeated after the repair; the one that comes first does not accuse the other node."""
    results = [("12", GOOD), ("13", LOW), ("34", LOW), ("13", GOOD), ("34", last)]
    [incident] = incidents_of(benchmarks(*results))
    assert (incident["state"], incident["nodes"]) == (state, ["n3"])


@pytest.mark.parametrize("reached", [GOOD, 0.97 * TARGET])
def test_a_target_that_is_reached_is_silent(reached: float) -> None:
    """Give or take five percent."""
    assert incidents_of(benchmarks(("12", reached), ("34", reached))) == []


def test_a_benchmark_without_a_target_is_only_kept_on_the_time_line() -> None:
    """Nobody has said how fast it should be."""
    job = Job()
    assert incidents_of([job.event("benchmark", "n1", "/ckpt", what="disk_write", bytes_per_second=2.2e9)]) == []
