"""One node of two is slower than it was: told as its ranks', through the detect stage."""

from typing import Any

import pytest

from schemas.detection import Detection
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job

HALF = dict.fromkeys(range(4, 8), 1.15)


def slow_ranks(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of the findings on ranks, by rank."""
    latest = {one.id: one for one in fed.told(Detection) if one.detector == "slow_rank"}
    return sorted(latest.values(), key=lambda one: one.ranks)


def test_each_rank_of_the_node_is_told_and_its_end_too() -> None:
    """Its ranks are named with before and after, since the step it began in, until it is as it was."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(80), *job.run(60, slow=HALF), *job.run(40))
    found = slow_ranks(fed)
    assert [one.ranks for one in found] == [(4,), (5,), (6,), (7,)]
    for one in found:
        assert (one.nodes, one.part) == (("n2",), "compute")
        assert abs((one.onset_step or 0) - 180) <= 1
        assert one.numbers["ratio"] == pytest.approx(1.15, abs=0.02)
        assert one.end_time is not None
        assert "unlike other nodes" in one.text


@pytest.mark.parametrize(
    ("slow", "nodes"),
    [
        pytest.param(dict.fromkeys(range(8), 1.15), 2, id="both nodes"),
        pytest.param(dict.fromkeys(range(4, 8), 1.02), 2, id="two per cent"),
        pytest.param({4: 1.15, 5: 1.15}, 2, id="half of a node"),
    ],
)
def test_nobody_is_told(slow: dict[int, float], nodes: int) -> None:
    """What all have, what is slight, and what half of a node has is no matter of one node's pace."""
    fed, job = Fed(Detect()), Job(nodes)
    fed.feed(job.started(), *job.run(80), *job.run(60, slow=slow))
    assert [one for one in slow_ranks(fed) if "unlike other nodes" in one.text] == []


def test_where_peers_are_a_majority_they_are_asked() -> None:
    """One node of four is told by its peers, once for each rank."""
    fed, job = Fed(Detect()), Job(4)
    fed.feed(job.started(), *job.run(80), *job.run(60, slow=HALF))
    found = slow_ranks(fed)
    assert [one.ranks for one in found] == [(4,), (5,), (6,), (7,)]
    assert all("as its peers" in one.text for one in found)


def test_a_stage_that_has_a_node_to_itself_is_left_out() -> None:
    """Its ranks have no peers elsewhere: more work for a stage is a matter of the layout, and no node's."""
    fed, job = Fed(Detect()), Job(4)
    placement: list[dict[str, Any]] = [  # Any: a row of the placement
        {"rank": rank, "node": job.node_of(rank), "gpu": f"GPU-{rank}", "pp": rank // 4} for rank in range(16)
    ]
    fed.feed(job.started(placement=placement), *job.run(80), *job.run(60, slow=HALF))
    assert slow_ranks(fed) == []


def test_a_later_half_is_told_after_all_became_slower_together() -> None:
    """A change that all share becomes the new normal, from which one node can still fall behind."""
    fed, job = Fed(Detect()), Job()
    everybody = dict.fromkeys(range(8), 1.3)
    fed.feed(job.started(), *job.run(80), *job.run(80, slow=everybody))
    fed.feed(*job.run(60, slow={**everybody, **dict.fromkeys(range(4, 8), 1.6)}))
    assert [one.ranks for one in slow_ranks(fed)] == [(4,), (5,), (6,), (7,)]


def test_what_the_other_node_does_later_takes_the_word_back() -> None:
    """A trouble that reaches the second node thirty steps after the first was never one node's."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(80), *job.run(30, slow=HALF), *job.run(60, slow=dict.fromkeys(range(8), 1.15)))
    found = slow_ranks(fed)
    assert [one.ranks for one in found] == [(4,), (5,), (6,), (7,)]
    assert all(one.end_time is not None for one in found)
