"""Errors that are counted, through the detect stage."""

from collections.abc import Callable

from schemas.detection import Detection
from schemas.telemetry import SampleFrame
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job

GPUS = ["GPU-0", "GPU-1", "GPU-2", "GPU-3"]


def lived(counted: Callable[[int], float], steps: int = 400, fed: Fed[DetectMemory] | None = None) -> Fed[DetectMemory]:
    """A job of steps of a second whose second GPU counts; its samples come with every fifth step."""
    job, fed = Job(), fed or Fed(Detect())
    fed.feed(job.started())
    for step in range(steps):
        fed.feed(*job.run(1))
        if step % 5 == 4:
            fed.feed(_sample(job, counted(step)))
    return fed


def _sample(job: Job, count: float) -> SampleFrame:
    return job.sample("gpu", GPUS, "n1", [0, 1, 2, 3], nvlink_errors_total=[0.0, count, 0.0, 0.0])


def counts(fed: Fed[DetectMemory]) -> list[Detection]:
    """The first revisions of what was found in counters."""
    return [one for one in fed.told(Detection) if one.detector == "counter_rate" and not one.revision]


def test_one_burst_is_found_and_names_its_gpu() -> None:
    """Forty link errors in one moment and none before or after: no level, and yet a finding."""
    [burst] = counts(lived(lambda step: 40.0 if step >= 300 else 0.0))
    assert (burst.gpus, burst.ranks, burst.nodes) == (("GPU-1",), (1,), ("n1",))
    assert burst.onset_step is not None
    assert 399 <= burst.onset_step <= 406
    assert "grew by 40" in burst.text


def test_single_errors_of_a_healthy_link_are_no_finding() -> None:
    """Links that are in order count an error now and then; two in one window are still chance."""
    assert counts(lived(lambda step: float((step >= 250) + (step >= 300) + (step >= 310)))) == []


def test_the_limit_that_is_told_is_less_than_what_was_counted() -> None:
    """Growth that just reaches the least worth a finding is not told as what was to be expected."""
    [burst] = counts(lived(lambda step: 5.0 if step >= 300 else 0.0))
    assert "grew by 5 " in burst.text
    assert burst.text.endswith("no more than 4 was to be expected")


def test_a_counter_that_always_counts_is_no_finding() -> None:
    """Errors at the rate they always came are how this link is."""
    assert counts(lived(lambda step: float(step // 10))) == []


def test_a_counter_that_begins_anew_is_no_burst() -> None:
    """A driver that was loaded again counts from zero, which is neither a fall nor a burst."""
    assert counts(lived(lambda step: 5000.0 if step < 300 else 0.0)) == []


def test_a_source_that_reads_nothing_for_a_moment_is_no_burst() -> None:
    """An exporter that starts says 0 and then the whole count again: nothing was counted in between."""
    assert counts(lived(lambda step: 0.0 if 300 <= step < 310 else 5000.0)) == []


def test_a_stale_gauge_and_a_gap_are_no_burst() -> None:
    """A reading that repeats counts nothing."""
    assert counts(lived(lambda step: float(min(step, 200) // 20))) == []


def test_what_was_counted_before_the_first_steps_is_left_out() -> None:
    """Links are trained while a job starts: what they count then is no fault."""
    job, fed = Job(), Fed(Detect())
    fed.feed(job.started())
    for count in range(60):
        job.time += 5.0
        fed.feed(_sample(job, 100.0 * count))
    for step in range(300):
        fed.feed(*job.run(1))
        if step % 5 == 4:
            fed.feed(_sample(job, 100.0 * 60))
    assert counts(fed) == []


def test_samples_trained_twice_are_counted_over_all_ranks() -> None:
    """The trainer's own counters are judged too; a rank that is silent for a step takes nothing away."""
    job, fed = Job(), Fed(Detect())
    fed.feed(job.started())
    for step in range(200):
        frames = job.run(1)
        for frame in frames:
            count = 64.0 if step >= 150 and frame.node == "n1" else 0.0
            frame.values["duplicate_samples_total"] = [
                None if step % 17 == 3 and rank % 2 else 1000.0 * rank + count for rank in frame.ranks
            ]
        fed.feed(*frames)
    fed.flush()
    [found] = counts(fed)
    assert (found.signal, found.subject, found.onset_step) == ("duplicate_samples_total", "job", 250)
    assert found.numbers["growth"] == 256.0
