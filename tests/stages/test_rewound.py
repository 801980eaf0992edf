"""A run that begins anew under the number of the attempt that is known: its steps are steps, and not late."""

from collections.abc import Callable, Sequence

import pytest
from msgspec import structs

from schemas.detection import Detection, Vitals
from schemas.telemetry import Event, StepFrame
from schemas.topics import Record
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from streams.stages.stage import Sent
from tests.stages.build import Fed, Job, of_kind


def anew(before: Job, step: int, after: float = 60.0) -> Job:
    """The same job once more, begun by somebody who counts no attempts."""
    job = Job(attempt=before.attempt, step=step, time=before.time + after, seed=7)
    job._counts = before._counts
    return job


def trained(job: Job, steps: int = 80) -> Fed[DetectMemory]:
    """A job that has run well for some steps."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(steps))
    return fed


def steps_of(said: Sequence[Sent]) -> list[int]:
    """The steps that closed, in order."""
    return [one.step for one in of_kind(list(said), Vitals) if one.of == "step" and one.step is not None]


def starts(said: Sequence[Sent]) -> list[Event]:
    """The starts that were passed on."""
    return [one for one in of_kind(list(said), Event) if one.event == "attempt.started"]


def as_log(frames: list[StepFrame]) -> list[StepFrame]:
    """What a reader of the trainer's log makes of them: one source that speaks of the job alone."""
    return [
        structs.replace(one, node="log", ranks=[], values={}, job_values={**one.job_values, "step_seconds": 1.1})
        for one in frames
        if one.job_values
    ]


@pytest.mark.parametrize("step", [1, 150])
def test_a_log_that_begins_anew_is_another_run(step: int) -> None:
    """Three old steps in order, after a pause, are a start that nobody told of; the line says so in its own words."""
    first = Job()
    fed = Fed(Detect())
    fed.feed(first.started(), *as_log(first.run(80)))
    said = fed.feed(*as_log(anew(first, step).run(40)))
    (start,) = starts(said)
    assert (start.node, start.attempt, start.data["reason"]) == ("line", 1, "steps go back")
    assert [place["node"] for place in start.data["placement"]] == ["n1"] * 4 + ["n2"] * 4
    assert steps_of(said)[:5] == list(range(step + 2, step + 7))
    assert fed.memory.counters.late == 2


def test_a_start_that_is_told_again_brings_its_placement() -> None:
    """With the first two old steps the start counts that was told before them: ranks have moved, levels stay."""
    first = Job()
    fed = trained(first)
    again = anew(first, 150)
    again.nodes = ["n3", "n4"]
    said = fed.feed(again.started(), *again.run(30), *again.run(50, slow={6: 1.4}))
    assert len(starts(said)) == 1
    slow = [one for one in of_kind(said, Detection) if one.detector == "slow_rank"][-1]
    assert (slow.ranks, slow.nodes, slow.gpus) == ((6,), ("n4",), ("GPU-6",))
    assert steps_of(said)[:2] == [151, 152]


def test_ranks_that_have_moved_have_no_placement_of_before() -> None:
    """Where nobody tells of the start, a rank on another node takes no GPU with it."""
    first = Job()
    fed = trained(first)
    again = anew(first, 150)
    again.nodes = ["n3", "n4"]
    said = fed.feed(*again.run(80), *again.run(50, slow={6: 1.4}))
    assert [start.data["placement"] for start in starts(said)] == [[]]
    slow = [one for one in of_kind(said, Detection) if one.detector == "slow_rank"][-1]
    assert (slow.ranks, slow.nodes, slow.gpus) == ((6,), ("n4",), ())


def test_a_start_after_the_end_is_another_run() -> None:
    """A launcher that ends an attempt and starts it again with the same number means another, from its first step."""
    first = Job()
    fed = trained(first)
    again = anew(first, 180)
    said = fed.feed(first.event("attempt.ended", reason="failed"), again.started(), *again.run(20))
    assert steps_of(said)[0] == 180


def test_the_same_fault_at_the_same_step_is_another_finding() -> None:
    """A bad batch that comes again where it came before has an id of its own."""
    first = Job()
    fed = trained(first, 60)
    fed.feed(*first.run(1, loss=float("nan")), *first.run(20))
    again = anew(first, 150)
    fed.feed(*again.run(10), *again.run(1, loss=float("nan")), *again.run(10))
    found = {one.id for one in fed.told(Detection) if one.detector == "nonfinite" and one.onset_step == 160}
    assert len(found) == 2


def test_signs_begin_anew_with_the_run() -> None:
    """What a sign has counted of one run is nothing to the next of the same number."""
    first, fed = Job(), Fed(Detect())
    fed.feed(first.started(total_steps=1000))
    fed.feed(*first.run(60, learning_rate=3e-4), *first.run(20, learning_rate=0.0))
    again = anew(first, 150)
    fed.feed(again.started(total_steps=1000), *again.run(20, learning_rate=0.0))
    assert [one for one in fed.told(Detection) if one.detector == "rate_gone"] == []


def lagging(job: Job) -> list[Record]:
    """One node has not come through for a while; the other goes on."""
    frames = job.run(60)
    late = [one for one in frames if one.node == "n2"][:20]
    prompt = [one for one in frames if one.node == "n1"]
    stamped = [structs.replace(one, time=one.time + 420.0) for one in late]
    return [*prompt[:40], *(one for pair in zip(prompt[40:], stamped, strict=False) for one in pair)]


def validated(job: Job) -> list[Record]:
    """Old checkpoints are validated one after the other while the job waits."""
    job.time += 600.0
    return [
        StepFrame(**job._head("n1"), step=step, ranks=[], values={}, job_values={"valid_loss": 2.1})
        for step in range(110, 180, 10)
    ]


def evaluated(job: Job) -> list[Record]:
    """Batches of an evaluation are counted from zero, at once after the last step."""
    job.time += 0.5
    frames: list[Record] = []
    for step in range(30):
        frames.append(StepFrame(**job._head("n1"), step=step, ranks=[], values={}, job_values={"loss": 2.0}))
        job.time += 0.5
    return frames


@pytest.mark.parametrize("story", [lagging, validated, evaluated], ids=lambda story: story.__name__)
def test_not_every_old_step_is_a_start(story: Callable[[Job], list[Record]]) -> None:
    """A node that lags behind with a wrong clock, old checkpoints under test and an evaluation begin nothing."""
    job = Job()
    fed = trained(job)
    before = fed.memory.attempt
    said = fed.feed(*story(job))
    assert starts(said) == []
    assert fed.memory.attempt is before


def test_a_launcher_that_repeats_itself_starts_nothing() -> None:
    """A start that is told again while the job trains on is none, also when a frame comes late after it."""
    job = Job()
    fed = trained(job)
    frames = job.run(30)
    straggler = structs.replace(frames[0], node="n9", seq=0)
    before = fed.memory.attempt
    fed.feed(*frames[:40], job.started(), straggler, *frames[40:], *job.run(20))
    assert fed.memory.attempt is before
