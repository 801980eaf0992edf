"""From one attempt of a job to the next: what dies with it and what survives."""

import math
from typing import Any

import pytest

from schemas.detection import Detection, Vitals
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from streams.stages.stage import Sent
from tests.stages.build import Fed, Job, of_kind


def trained(job: Job, steps: int = 80) -> Fed[DetectMemory]:
    """A job that has run well for some steps."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(steps))
    return fed


def normals(said: list[Sent]) -> dict[str, float | None]:
    """The healthy levels as they were last told."""
    return {name: level for one in of_kind(said, Vitals) for name, level in one.normal.items()}


def found(said: list[Sent], detector: str) -> list[Detection]:
    """The last revisions of a detector's findings among what was said."""
    return list({one.id: one for one in of_kind(said, Detection) if one.detector == detector}.values())


def test_the_same_configuration_keeps_its_levels() -> None:
    """A restart with the same fingerprint and world size is judged from its sixth step on."""
    first = Job()
    fed = trained(first)
    again = first.restarted(step=150)
    said = fed.feed(first.event("attempt.ended", reason="failed"), again.started(), *again.run(40, waiting=0.4))
    shifts = {one.signal: one for one in found(said, "level_shift")}
    assert shifts["step_seconds"].attempt == 2
    assert (shifts["step_seconds"].onset_step or 0) <= 156
    assert None not in normals(said).values()


@pytest.mark.parametrize(
    ("nodes", "changed"),
    [
        pytest.param(1, {}, id="another world size"),
        pytest.param(2, {"fingerprint": "f2"}, id="another fingerprint"),
        pytest.param(2, {"fingerprint": ""}, id="no fingerprint"),
    ],
)
def test_another_configuration_forgets_them(nodes: int, changed: dict[str, str]) -> None:
    """A restart that may be something else learns anew, and readers are told that the old levels are gone."""
    first = Job()
    fed = trained(first)
    again = first.restarted(step=150, nodes=nodes)
    said = fed.feed(
        first.event("attempt.ended", reason="failed"), again.started(**changed), *again.run(20, waiting=0.4)
    )
    assert found(said, "level_shift") == []
    told = normals(said)
    assert told["step_seconds"] is None
    assert told["interval_seconds"] is None
    assert normals(fed.feed(*again.run(40, waiting=0.4)))["step_seconds"] == pytest.approx(1.44, rel=0.01)


def test_a_restart_that_nobody_announced_learns_anew() -> None:
    """Frames of a higher attempt end the one before, and of their configuration nothing is known."""
    first = Job()
    fed = trained(first)
    fed.feed(*first.run(20, waiting=0.4))
    again = first.restarted(step=150)
    said = fed.feed(*again.run(40, waiting=0.4))
    assert {one.attempt for one in of_kind(said, Detection)} == {1}
    assert all(one.end_time is not None for one in of_kind(said, Detection))
    assert normals(said)["step_seconds"] == pytest.approx(1.44, rel=0.01)


def test_findings_end_with_their_attempt() -> None:
    """Whatever is wrong when an attempt ends has ended with its last step."""
    first = Job()
    fed = trained(first)
    fed.feed(*first.run(40, slow={3: 1.4}, loss=math.nan))
    said = fed.feed(first.event("attempt.ended", reason="failed"))
    ended = [one for one in of_kind(said, Detection) if one.end_time is not None]
    assert {one.detector for one in ended} == {"level_shift", "slow_rank", "nonfinite"}
    assert {one.end_step for one in ended} == {219}
    assert fed.memory.attempt is not None
    assert fed.memory.attempt.active == {}


@pytest.mark.parametrize(
    ("wrong", "detector"),
    [
        pytest.param({"waiting": 0.4}, "level_shift", id="slow"),
        pytest.param({"loss": math.nan}, "nonfinite", id="NaN"),
        pytest.param({"slow": {3: 1.4}}, "slow_rank", id="slow rank"),
    ],
)
def test_what_is_still_wrong_is_found_again(wrong: dict[str, float], detector: str) -> None:
    """A fault that survives a restart is a finding of the new attempt too."""
    first = Job()
    fed = trained(first)
    fed.feed(*first.run(30, **wrong), first.event("attempt.ended", reason="failed"))  # type: ignore[arg-type]
    again = first.restarted(step=150)
    said = fed.feed(again.started(), *again.run(40, **wrong))  # type: ignore[arg-type]
    assert {one.attempt for one in found(said, detector)} == {2}
    assert all(one.end_time is None for one in found(said, detector))


def test_what_is_still_wrong_with_a_machine_is_found_again() -> None:
    """A throttled GPU is a finding of each attempt that runs on it."""
    first = Job()
    fed = trained(first, 10)
    for job in (first, first.restarted(step=150)):
        fed.feed(job.started(), *job.run(10))
        for _ in range(20):
            hot = job.sample("gpu", ["GPU-3"], "n1", throttle_hw_thermal=[1.0], sm_clock_mhz=[900.0])
            fed.feed(*job.run(5), hot)
        fed.feed(job.event("attempt.ended", reason="failed"))
        first = job
    assert [(one.attempt, one.signal) for one in found(fed.said, "sustained")] == [
        (1, "throttle_hw_thermal"),
        (2, "throttle_hw_thermal"),
    ]


def test_late_records_of_an_attempt_before_are_counted() -> None:
    """A straggler of the attempt before changes nothing and is counted."""
    first = Job()
    fed = trained(first)
    stragglers = first.run(3)
    again = first.restarted(step=150)
    fed.feed(again.started(), *again.run(10))
    before = fed.memory.counters.late
    assert fed.feed(*stragglers, first.event("xid", code=79)) == []
    assert fed.memory.counters.late == before + len(stragglers) + 1


@pytest.mark.parametrize("word", ["incident.closed", "incident.acknowledged", "request.approved", "action.done"])
def test_what_is_answered_outlives_its_attempt(word: str) -> None:
    """A person or a runner may answer when the job has long started again: it is heard, and changes no levels."""
    first = Job()
    fed = trained(first)
    again = first.restarted(step=150)
    fed.feed(again.started(), *again.run(10))
    late, normal = fed.memory.counters.late, fed.memory.attempt
    answer = first.event(word, "operator", "inc-1", by="kim", legitimate=True)
    assert fed.feed(answer) == [Sent("events", "toy", answer)]
    assert fed.memory.counters.late == late
    assert fed.memory.attempt is normal


def test_state_dies_with_the_attempt() -> None:
    """Ranks, phases, pauses, progress and sources of an attempt are not those of the next."""
    first = Job()
    fed = trained(first)
    fed.feed(first.event("phase.begin", phase="eval"), first.event("checkpoint.begin", step=170))
    again = first.restarted(step=150, nodes=1)
    fed.feed(again.started(), *again.run(15))
    attempt = fed.memory.attempt
    assert attempt is not None
    assert (attempt.number, attempt.world_size, attempt.participants.ranks) == (2, 4, [0, 1, 2, 3])
    assert attempt.phases.open == {}
    assert attempt.saves.begun == {}
    assert sorted(attempt.voices.names) == ["n1"]
    assert sorted(attempt.alignment.sources) == ["n1"]


def test_ranks_may_move_between_nodes() -> None:
    """In the next attempt a rank is named with the node it runs on then."""
    first = Job()
    fed = trained(first)
    again = first.restarted(step=150)
    placement = [{"rank": rank, "node": f"n{2 - rank // 4}", "gpu": f"GPU-{9 - rank}"} for rank in range(8)]
    said = fed.feed(again.started(placement=placement), *again.run(60), *again.run(40, slow={3: 1.4}))
    [slow] = found(said, "slow_rank")
    assert (slow.ranks, slow.nodes, slow.gpus) == ((3,), ("n2",), ("GPU-6",))


def test_a_start_that_comes_after_the_first_frames_brings_the_placement() -> None:
    """The launcher's word may be overtaken by the first steps."""
    job, fed = Job(), Fed(Detect())
    start = job.started()
    fed.feed(*job.run(3), start, *job.run(60), *job.run(40, slow={6: 1.4}))
    [slow] = found(fed.said, "slow_rank")
    assert slow.gpus == ("GPU-6",)


def test_a_second_start_of_the_same_attempt_changes_nothing() -> None:
    """A launcher that repeats itself does not make the job forget."""
    job = Job()
    fed = trained(job)
    said = fed.feed(job.started(), *job.run(30, waiting=0.4))
    assert len(found(said, "level_shift")) >= 1


@pytest.mark.parametrize(
    "data",
    [
        {"placement": "n1"},
        {"placement": [1, None, {"rank": "0"}, {"rank": -1}, {"rank": True}, {"node": "n1"}, {"rank": 1 << 60}]},
        {"placement": {"0": "n1"}, "world_size": "8", "total_steps": -5, "fingerprint": ["f"]},
        {"placement": [{"rank": 0, "node": None, "gpu": 7, "pp": "x"}], "world_size": 1e9, "total_steps": True},
        {"placement": [{"rank": 0, "node": "n1", "pp": -1}], "world_size": 1 << 60},
    ],
)
def test_a_start_with_odd_data_is_a_start(data: dict[str, Any]) -> None:  # Any: event data
    """What the launcher writes is taken as far as it makes sense, and the job is watched all the same."""
    job, fed = Job(), Fed(Detect())
    fed.feed(job.event("attempt.started", **data), *job.run(60), *job.run(40, slow={6: 1.4}))
    assert [one.ranks for one in found(fed.said, "slow_rank")] == [(6,)]
