"""Jobs of one to eight GPUs: nobody is alarmed where nothing is wrong, and what is wrong is told."""

import pytest

from streams.agents.simulation.conditions import Conditions
from streams.agents.simulation.decoys import UnevenSequences
from streams.agents.simulation.host_faults import SlowNode
from streams.agents.simulation.influence import Influence
from tests.acceptance.simulated_job import told

SIZES = ((1, 1), (2, 1), (1, 4))
ONSET = 201


class Collections(Influence, frozen=True, kw_only=True):
    """Every 23 steps or so one rank's program collects its garbage for as long as a step takes."""

    def apply(self, now: Conditions) -> None:
        """Lengthen the compute of a rank by chance."""
        hit, rank = now.noise.places("collection", 2, 0.0)
        if self.strength(now.step) and hit < 1 / 23:
            now.compute[int(rank * now.job.world_size)] += now.job.parts.seconds


class EmptyLoader(Influence, frozen=True, kw_only=True):
    """At every 25th step the loaders have nothing for a step's time."""

    def apply(self, now: Conditions) -> None:
        """Lengthen the wait for data of all ranks."""
        if self.strength(now.step) and now.step % 25 == 0:
            now.loader += now.job.parts.seconds


@pytest.mark.parametrize(("nodes", "gpus", "seed"), [(1, 1, 1), (1, 2, 1), (1, 2, 3), (2, 1, 3), (1, 4, 1)])
def test_a_long_sequence_on_one_of_few_ranks_is_no_stall(nodes: int, gpus: int, seed: int) -> None:
    """Where few ranks take part, hardly any step has a long sequence: those that have one are no collections."""
    assert told(nodes, gpus, UnevenSequences(onset=1), seed=seed, steps=1000) == []


@pytest.mark.parametrize(("nodes", "gpus"), SIZES)
def test_collections_are_told(nodes: int, gpus: int) -> None:
    """Single steps that some rank's collection doubles are one cause, in the smallest job too, and nobody's fault."""
    incidents = told(nodes, gpus, Collections(onset=ONSET))
    assert {(one["cause"], *one["nodes"]) for one in incidents} == {("garbage_collection",)}
    assert incidents[0]["onset_step"] >= ONSET


@pytest.mark.parametrize(("nodes", "gpus"), SIZES)
def test_a_loader_that_runs_empty_is_told(nodes: int, gpus: int) -> None:
    """Stalls of the loader at a fixed distance are told as such, whatever the size."""
    [incident] = told(nodes, gpus, EmptyLoader(onset=ONSET))
    assert incident["cause"] == "recurring_loader_stall"
    assert incident["onset_step"] == 225


@pytest.mark.parametrize(("nodes", "gpus"), SIZES)
def test_a_node_that_works_half_as_fast_again_is_told(nodes: int, gpus: int) -> None:
    """The only node of a job has no peer: the job is told to be slower. One of two is named."""
    [incident] = told(nodes, gpus, SlowNode(onset=ONSET, node="n01", factor=1.5))
    assert ONSET - 2 <= incident["onset_step"] <= ONSET + 2
    assert incident["nodes"] == (["n01"] if nodes > 1 else [])
