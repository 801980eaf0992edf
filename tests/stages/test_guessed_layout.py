"""Stages that no launcher told of: the ranks at the ends that have had other work from the first are peers."""

import numpy as np
import pytest

from streams.stages.detect import layout
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.open_steps import Participants
from streams.stages.detect.participants import enrol
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job
from tests.stages.test_detect_peers import slow_ranks

LAST = dict.fromkeys((12, 13, 14, 15), 1.25)


def watched(told: bool, slow: dict[int, float]) -> Fed[DetectMemory]:
    """A job of sixteen ranks, some slow from the first step on, whose launcher has spoken or not."""
    fed, job = Fed(Detect()), Job(nodes=2, ranks=8)
    fed.feed(*([job.started()] if told else []), *job.run(80, slow=slow))
    return fed


def test_a_stage_at_the_end_is_not_blamed() -> None:
    """A quarter of the ranks, at the end and all alike, may be the last stage where nobody said what they do."""
    assert slow_ranks(watched(False, LAST)) == []


def test_a_known_layout_is_believed() -> None:
    """Where the launcher said that they do the same work as the others, they are slow."""
    assert {one.ranks for one in slow_ranks(watched(True, LAST))} == {(rank,) for rank in LAST}


def test_a_slow_replica_of_it_is_found() -> None:
    """Among its peers, which are as slow as their stage, the one that is slower is named."""
    fed, job = Fed(Detect()), Job(nodes=2, ranks=8)
    fed.feed(*job.run(60, slow=LAST), *job.run(60, slow={**LAST, 14: 1.45}))
    [found] = slow_ranks(fed)
    assert (found.ranks, found.nodes) == ((14,), ("n2",))
    assert abs((found.onset_step or 0) - 160) <= 2


@pytest.mark.parametrize(
    ("excess", "groups"),
    [
        pytest.param([0.0] * 8, [0] * 8, id="all alike"),
        pytest.param([0.0] * 6 + [0.25, 0.25], [0] * 6 + [2, 2], id="the last two"),
        pytest.param([0.2, 0.2] + [0.0] * 8 + [0.3, 0.3], [1, 1, *[0] * 8, 2, 2], id="both ends"),
        pytest.param([-0.2, -0.2] + [0.0] * 6, [1, 1] + [0] * 6, id="the first two, with less to do"),
        pytest.param([0.0] * 7 + [0.25], [0] * 8, id="a single rank is no stage"),
        pytest.param([0.0] * 5 + [0.25] * 3, [0] * 8, id="three of eight are no stage"),
        pytest.param([0.0] * 6 + [0.1, 0.3], [0] * 8, id="not alike"),
        pytest.param([0.0] * 3 + [0.25, 0.25] + [0.0] * 3, [0] * 8, id="in the middle"),
    ],
)
def test_who_is_taken_for_a_stage(excess: list[float], groups: list[int]) -> None:
    """Ranks at an end that stand apart together, in a number that divides the job."""
    people = Participants()
    for rank in range(len(excess)):
        enrol(people, rank, "n1")
    layout.guess(people, 1.0 + np.array(excess))
    assert people.groups == groups
