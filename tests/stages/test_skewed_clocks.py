"""A node whose clock is wrong: its frames meet those of the others, and nobody is called silent or stuck for it."""

import pytest
from msgspec import structs

from schemas.detection import Detection, Vitals
from schemas.telemetry import StepFrame
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job

SKEWS = [-3600.0, -30.0, -11.0, -2.0, 2.0, 11.0, 30.0, 100.0]
FAR = 3600.0
"""So far ahead that the leap of the stream's clock looks like an hour in which nothing came."""


def skewed(frames: list[StepFrame], seconds: float) -> list[StepFrame]:
    """The same frames, those of the last node by another clock."""
    last = frames[-1].node
    return [structs.replace(one, time=one.time + seconds) if one.node == last else one for one in frames]


def a_run(seconds: float, steps: int = 120, slow_from: int = 60) -> Fed[DetectMemory]:
    """A job of two nodes, one of which goes wrong by so many seconds; a rank on it becomes slow."""
    job, fed = Job(nodes=2, ranks=4), Fed(Detect())
    fed.feed(job.started())
    for step in range(steps):
        fed.feed(*skewed(job.run(1, slow={6: 1.4} if step >= slow_from else None), seconds))
    fed.flush()
    return fed


@pytest.mark.parametrize("seconds", [*SKEWS, FAR])
def test_no_frame_is_lost(seconds: float) -> None:
    """Every step closes with the frames of both nodes."""
    fed = a_run(seconds, steps=40)
    steps = [one for one in fed.told(Vitals) if one.of == "step"]
    assert len(steps) == 40
    assert fed.memory.counters.late == 0


@pytest.mark.parametrize("seconds", SKEWS)
def test_a_slow_rank_on_that_node_is_found(seconds: float) -> None:
    """A wrong clock does not hide the culprit, nor does it make a hang or a silence out of nothing."""
    found = a_run(seconds).told(Detection)
    assert {one.subject for one in found if one.detector == "slow_rank"} == {"rank:6"}
    assert [one for one in found if one.detector in ("stalled", "silence")] == []


def test_a_clock_an_hour_ahead_is_told_once() -> None:
    """The leap is taken for a standstill until the next step, and the slow rank is found all the same."""
    fed = a_run(FAR)
    standstill = [one for one in fed.told(Detection) if one.detector == "stalled"]
    assert len({one.id for one in standstill}) <= 1
    assert standstill[-1].end_time is not None
    assert {one.subject for one in fed.told(Detection) if one.detector == "slow_rank"} == {"rank:6"}


@pytest.mark.parametrize("seconds", [-100.0, 100.0])
def test_a_clock_that_is_set_right_is_no_event(seconds: float) -> None:
    """When a clock jumps back to the right time, steps go on meeting each other, and nobody is called silent."""
    job, fed = Job(nodes=3, ranks=2), Fed(Detect())
    fed.feed(job.started())
    for step in range(80):
        fed.feed(*skewed(job.run(1), seconds if 30 <= step < 50 else 0.0))
    assert {one.detector for one in fed.told(Detection)} <= {"clock_skew"}


def leapt(job: Job, gap: float, alone: bool) -> set[str]:
    """Who is called silent when the time of one node, or of all, goes on so much later."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(100))
    if alone:
        for _ in range(60):
            fed.feed(*skewed(job.run(1), gap))
    else:
        job.time += gap
        fed.feed(*job.run(60))
    return {node for one in fed.told(Detection) if one.detector == "silence" for node in one.nodes}


@pytest.mark.parametrize("gap", [90.0, 300.0, 1000.0])
def test_a_clock_that_leaps_makes_nobody_else_silent(gap: float) -> None:
    """The others go on speaking by the right time, and are heard."""
    assert leapt(Job(nodes=4, ranks=2), gap, alone=True) == set()


def test_a_gap_of_all_nodes_is_a_silence() -> None:
    """Where nothing came in between, whoever speaks first does not hide it."""
    assert len(leapt(Job(nodes=4, ranks=2), 300.0, alone=False)) == 3


def test_long_steps_are_no_leaps() -> None:
    """The first word of every step moves the clock far where steps take minutes."""
    job, fed = Job(nodes=4, ranks=2), Fed(Detect())
    fed.feed(job.started())
    for _ in range(40):
        fed.feed(*job.run(1, loader=104.0))
        assert fed.memory.attempt is not None
        assert fed.memory.attempt.voices.leap is None
