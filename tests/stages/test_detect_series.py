"""The signals of a job through the detect stage: shifts, limits, spikes, and readings that are no numbers."""

import math

import pytest

from schemas.detection import Detection, Vitals
from schemas.telemetry import Reading, StepFrame
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import START, Fed, Job


def detect() -> Fed[DetectMemory]:
    """The stage, not fed yet."""
    return Fed(Detect())


def last(fed: Fed[DetectMemory], detector: str, signal: str = "") -> list[Detection]:
    """The last revisions of a detector's findings."""
    latest = {one.id: one for one in fed.told(Detection)}
    return [one for one in latest.values() if one.detector == detector and signal in ("", one.signal)]


def test_a_quiet_job_has_no_findings() -> None:
    """Two hundred steps within their noise raise nothing, and every step is told as vitals."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(200))
    fed.flush()
    assert fed.told(Detection) == []
    assert [one.step for one in fed.told(Vitals)] == list(range(100, 300))


def test_a_shift_is_dated_measured_and_ended() -> None:
    """A job that loses a quarter of its pace for forty steps is found with onset, both levels and end."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(80), *job.run(40, waiting=0.4), *job.run(40))
    [shift] = last(fed, "level_shift", "tokens_per_second")
    assert abs((shift.onset_step or 0) - 180) <= 1
    assert shift.before == pytest.approx(1000 / 1.09, rel=0.01)
    assert shift.after == pytest.approx(1000 / 1.44, rel=0.01)
    assert shift.direction == "down"
    assert 695 < (shift.limit or 0.0) < 917
    assert abs((shift.end_step or 0) - 219) <= 1
    assert shift.end_time is not None
    assert shift.onset_time < shift.time < shift.end_time
    assert "tokens_per_second" in shift.text
    assert {one.revision for one in fed.told(Detection) if one.id == shift.id} == set(range(shift.revision + 1))


def test_a_change_for_the_better_is_no_finding() -> None:
    """A job that becomes faster is told nothing of, and its new pace is normal from then on."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(80, waiting=0.4), *job.run(80), *job.run(30, waiting=0.4))
    shifts = last(fed, "level_shift", "tokens_per_second")
    assert [abs((one.onset_step or 0) - 260) <= 2 for one in shifts] == [True]


def test_time_in_a_legitimate_phase_is_no_finding() -> None:
    """Steps of an announced phase neither alarm nor teach."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(80))
    for _ in range(12):
        fed.feed(
            job.event("phase.begin", phase="warmup"), *job.run(3, waiting=1.0), job.event("phase.end", phase="warmup")
        )
    fed.feed(*job.run(40))
    assert fed.told(Detection) == []


def test_a_limit_held_too_long() -> None:
    """Fifty steps in a row with more than 15 % of loader share are a finding, 49 are none."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(49, loader=0.3), *job.run(10))
    assert last(fed, "sustained") == []
    fed.feed(*job.run(50, loader=0.3), *job.run(1))
    [found] = last(fed, "sustained")
    assert (found.signal, found.onset_step) == ("loader_share", 159)
    assert "50 steps in a row since step 159" in found.text


def test_a_spike_of_the_loss() -> None:
    """A loss that leaves its course for a few steps is a spike, up, with the level it reached."""
    fed, job = detect(), Job()
    frames = [frame for step in range(80) for frame in job.run(1, loss=2.0 + 0.01 * (step % 3))]
    fed.feed(job.started(), *frames, *job.run(4, loss=4.5), *job.run(30, loss=2.0))
    [spike] = last(fed, "spike", "loss")
    assert (spike.onset_step, spike.end_step, spike.direction, spike.after) == (180, 183, "up", 4.5)


@pytest.mark.parametrize(
    ("reading", "part", "words"),
    [
        pytest.param(math.nan, "nan", "NaN", id="NaN"),
        pytest.param(math.inf, "inf", "infinite", id="infinite"),
        pytest.param(-math.inf, "-inf", "minus infinite", id="minus infinite"),
        pytest.param(None, "absent", "absent while steps go on", id="absent"),
    ],
)
def test_a_loss_that_is_no_number(reading: Reading, part: str, words: str) -> None:
    """Each kind of unusable loss is a finding of its own kind, dated to its first step and ended with its last."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(30), *job.run(8, loss=reading), *job.run(5))
    [found] = last(fed, "nonfinite")
    assert (found.signal, found.part, found.onset_step, found.end_step) == ("loss", part, 130, 137)
    assert found.text == f"loss is {words} since step 130"


def test_a_loss_that_is_not_sent_any_more() -> None:
    """A trainer that leaves the loss out is like one that reports none."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(30), *(without_loss(frame) for frame in job.run(8)))
    [found] = last(fed, "nonfinite")
    assert (found.part, found.end_step) == ("absent", None)


def test_a_frame_that_was_lost_is_no_absent_loss() -> None:
    """While the frames of the node that tells the loss do not arrive, nobody knows what the loss is."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(60), *(frame for frame in job.run(40) if frame.node == "n2"), *job.run(5))
    assert last(fed, "nonfinite") == []


def without_loss(frame: StepFrame) -> StepFrame:
    """The same frame without a loss."""
    told = {name: value for name, value in frame.job_values.items() if name != "loss"}
    fields = {name: getattr(frame, name) for name in frame.__struct_fields__}
    return StepFrame(**{**fields, "job_values": told})


def test_zero_is_a_number() -> None:
    """A loss of zero is neither absent nor broken."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(60, loss=0.0))
    assert last(fed, "nonfinite") == []


def test_a_planned_step_of_the_batch_is_no_fault() -> None:
    """When the batch grows from one constant value to another, what is normal is learned anew."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(80, tokens=1000.0), *job.run(80, tokens=1500.0, waiting=0.55))
    assert fed.told(Detection) == []
    fed.feed(*job.run(30, tokens=1500.0, waiting=1.0))
    assert last(fed, "level_shift", "step_seconds") != []


def test_an_announced_change_is_learned_and_told() -> None:
    """After `config.changed` nothing is held against the old level, and readers are told that it is gone."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(80))
    told = fed.feed(job.event("config.changed", loader_workers=[4, 2]), *job.run(60, waiting=0.5))
    vitals = [sent.record for sent in told if isinstance(sent.record, Vitals)]
    dropped = {name for name, level in vitals[0].normal.items() if level is None}
    assert {"tokens_per_second", "step_seconds", "interval_seconds"} <= dropped
    assert all(level is not None for one in vitals[1:] for level in one.normal.values())
    assert vitals[-1].step == 239
    assert fed.told(Detection) == []
    levels = {name: level for one in vitals for name, level in one.normal.items()}
    assert levels["step_seconds"] == pytest.approx(1.54, rel=0.01)


def test_an_announced_change_ends_only_what_it_explains() -> None:
    """A change of configuration ends a slow-down, and leaves a loss that is NaN what it is."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(80), *job.run(20, waiting=0.4, loss=math.nan))
    fed.feed(job.event("config.changed", batch=[1, 2]), *job.run(30, waiting=0.4, loss=math.nan))
    assert {one.end_step for one in last(fed, "level_shift")} == {199}
    [broken] = last(fed, "nonfinite")
    assert broken.end_time is None


def test_first_steps_teach_nothing() -> None:
    """Compilation in the first five steps is not taken into the healthy level."""
    fed, job = detect(), Job()
    fed.feed(job.started(), *job.run(5, waiting=30.0), *job.run(60))
    normal = {name: level for one in fed.told(Vitals) for name, level in one.normal.items()}
    assert normal["step_seconds"] == pytest.approx(1.09, rel=0.01)


def test_frames_of_a_log_line_are_watched_like_others() -> None:
    """A job of which only log lines are known is found to slow down all the same."""
    fed = detect()
    for number in range(120):
        slow = 1.4 if number >= 80 else 1.0
        fed.feed(
            StepFrame(
                job="toy",
                attempt=1,
                node="log",
                seq=number,
                time=START + 10 * number,
                step=10 * number,
                every=10,
                mean=True,
                job_values={"step_seconds": slow + 0.001 * (number % 5), "tokens": 1000.0, "loss": 2.0},
            )
        )
    [shift] = last(fed, "level_shift", "step_seconds")
    assert abs((shift.onset_step or 0) - 800) <= 10
