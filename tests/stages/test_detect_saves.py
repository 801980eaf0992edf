"""Checkpoint pauses through the detect stage."""

import math
from typing import Any

import pytest

from schemas.detection import Detection, Vitals
from schemas.telemetry import Tick
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def pauses(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of the findings on saves."""
    return list({one.id: one for one in fed.told(Detection) if one.detector == "checkpoint"}.values())


def save(fed: Fed[DetectMemory], job: Job, lasting: float, mode: str = "sync", **end: Any) -> None:  # Any: event data
    """A save that begins and ends; the job waits for it unless it is asynchronous."""
    fed.feed(job.event("checkpoint.begin", step=job.step - 1, mode=mode))
    job.time += lasting
    fed.feed(job.event("checkpoint.end", step=job.step - 1, mode=mode, **end))


def test_saves_of_the_usual_length_are_no_finding() -> None:
    """Planned saves of some seconds are in order, however many there are, and the pause is a value of the next step."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for _ in range(6):
        fed.feed(*job.run(40))
        save(fed, job, 6.0)
    fed.feed(*job.run(10))
    assert fed.told(Detection) == []
    told = {one.step: one.values["checkpoint_seconds"] for one in fed.told(Vitals) if one.of == "step"}
    assert {step: value for step, value in told.items() if value} == dict.fromkeys(range(140, 341, 40), 6.0)
    assert {one.step for one in fed.told(Vitals) if one.phase} == set(range(140, 341, 40))


def test_a_save_that_has_become_long() -> None:
    """A pause over its limit is found with its step, its length and the usual one, and ends with the next in order."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for seconds in (6.0, 6.0, 41.0, 6.0):
        fed.feed(*job.run(40))
        save(fed, job, seconds)
    [found] = pauses(fed)
    assert (found.onset_step, found.end_step, found.after, found.before) == (219, 219, 41.0, 6.0)
    assert "step 219 paused the job for 41 s, usually 6 s" in found.text
    assert found.onset_time == pytest.approx(found.time - 41.0)


def saved_twice() -> tuple[Fed[DetectMemory], Job]:
    """A job that has saved twice in six seconds, and begins another save."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for _ in range(2):
        fed.feed(*job.run(40))
        save(fed, job, 6.0)
    fed.feed(*job.run(40), job.event("checkpoint.begin", step=job.step - 1, mode="sync"))
    return fed, job


def test_a_save_that_goes_on_is_told_meanwhile() -> None:
    """One that is out of proportion already is found before it ends; its end is a revision of the same finding."""
    fed, job = saved_twice()
    began = job.time
    for _ in range(4):
        job.time += 10.0
        fed.feed(Tick(time=job.time, every=5.0), job.sample("node", ["n1"], "n1", cpu_util=[0.2]))
    [found] = pauses(fed)
    assert (found.onset_step, found.revision, found.before) == (219, 0, 6.0)
    assert found.time == pytest.approx(began + 30.0)
    assert "step 219 has so far paused the job for 30 s, usually 6 s (limit 20 s)" in found.text
    fed.feed(job.event("checkpoint.end", step=219))
    [ended] = pauses(fed)
    assert (ended.id, ended.after, ended.end_time) == (found.id, 40.0, None)
    assert "step 219 paused the job for 40 s" in ended.text


def test_steps_go_on_after_a_save_whose_end_was_lost() -> None:
    """It pauses nobody, however long ago it began."""
    fed, job = saved_twice()
    job.time += 6.0
    fed.feed(*job.run(2))
    job.time += 6.0
    fed.feed(*job.run(80))
    assert pauses(fed) == []


def test_an_asynchronous_save_does_not_pause() -> None:
    """A save in the background may take long, and its steps are judged like others."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60))
    for _ in range(3):
        fed.feed(job.event("checkpoint.begin", step=job.step - 1, mode="async"), *job.run(50))
        fed.feed(job.event("checkpoint.end", step=job.step - 51, mode="async", seconds=60.0))
    assert pauses(fed) == []
    assert {one.phase for one in fed.told(Vitals)} == {""}


def test_a_failed_save_ends_its_pause() -> None:
    """After a failed save the steps are no longer excused."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60), job.event("checkpoint.begin", step=159))
    job.time += 5.0
    fed.feed(job.event("checkpoint.failed", step=159, error="no space"), *job.run(30))
    assert [one.step for one in fed.told(Vitals) if one.phase] == [160]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({}, id="not said"),
        pytest.param({"seconds": math.nan}, id="not a number"),
        pytest.param({"seconds": math.inf}, id="without end"),
        pytest.param({"seconds": -3.0}, id="negative"),
        pytest.param({"seconds": True}, id="a flag"),
        pytest.param({"seconds": "41"}, id="a word"),
        pytest.param({"seconds": [41.0]}, id="a list"),
        pytest.param({"seconds": 4.1e10}, id="in another unit"),
    ],
)
def test_a_length_that_cannot_be_used_is_measured(said: dict[str, Any]) -> None:  # Any: event data
    """Where the event does not say how long it took, the time between begin and end counts."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for seconds in (6.0, 6.0, 50.0):
        fed.feed(*job.run(40))
        save(fed, job, seconds, **said)
    assert [one.after for one in pauses(fed)] == [50.0]


def test_an_end_without_a_begin_and_without_a_length_says_nothing() -> None:
    """Of such a save nobody knows whether it paused the job."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60), job.event("checkpoint.end", step=150), *job.run(10))
    assert all(one.values["checkpoint_seconds"] == 0.0 for one in fed.told(Vitals))


def test_a_pause_told_by_the_frames_is_as_good() -> None:
    """Where there are no events, the trainer's own value of the pause is judged, once."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for seconds in (6.0, 6.0, 45.0):
        fed.feed(*job.run(40))
        job.time += seconds
        fed.feed(*job.run(1, checkpoint_seconds=seconds))
    fed.feed(*job.run(5))
    assert [one.after for one in pauses(fed)] == [45.0]


def test_a_pause_told_twice_counts_once() -> None:
    """The trainer's value of a pause that an event told of before is not another save."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started())
    for seconds in (6.0, 6.0, 45.0):
        fed.feed(*job.run(40))
        save(fed, job, seconds)
        fed.feed(*job.run(1, checkpoint_seconds=seconds))
    fed.feed(*job.run(5))
    [found] = pauses(fed)
    assert found.revision == 0


def test_a_step_that_is_no_number_is_no_step() -> None:
    """Saves with a nonsensical step are still saves."""
    fed, job = Fed(Detect()), Job()
    fed.feed(job.started(), *job.run(60))
    for step in (-7, True, "12", None, [1], 1 << 60):
        fed.feed(job.event("checkpoint.begin", step=step), job.event("checkpoint.end", step=step, seconds=3.0))
    fed.feed(*job.run(20))
    assert pauses(fed) == []
