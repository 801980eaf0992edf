"""A GPU that corrects memory errors without a pause is told, once, whatever its counter did before."""

from collections.abc import Callable

from schemas.detection import Detection
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def floods(counted: Callable[[float], float], seconds: int = 400) -> list[Detection]:
    """The last revision of every flood in a job whose second GPU has counted so much after so many seconds."""
    job, fed = Job(), Fed[DetectMemory](Detect())
    fed.feed(job.started(), *job.run(5))
    for _ in range(seconds // 10):
        fed.feed(*job.run(9))
        count = counted(job.time - 1_740_000_000.0)
        pair = ["GPU-0", "GPU-1"]
        fed.feed(job.sample("gpu", pair, "n1", [0, 1], ecc_dram_corrected_volatile_total=[7.0, count]))
    fed.flush()
    last = {one.id: one for one in fed.told(Detection) if one.detector == "error_flood"}
    return list(last.values())


def test_a_flood_that_was_there_from_the_start_is_told_with_its_gpu() -> None:
    """No past of this counter is any better: the rate itself says that something is wrong."""
    [flood] = floods(lambda seconds: 9e9 + 17_700.0 * seconds)
    assert (flood.gpus, flood.ranks, flood.nodes, flood.end_time) == (("GPU-1",), (1,), ("n1",), None)
    assert flood.text == "GPU-1 on n1 corrects 17700 memory errors every second"


def test_a_flood_that_stops_has_ended() -> None:
    """It is over when the counter has stood still for as long as it took to be sure."""
    [flood] = floods(lambda seconds: 500.0 * min(seconds, 150.0))
    assert flood.end_time is not None


def test_a_burst_and_a_trickle_are_no_flood() -> None:
    """Fifty thousand at once are a burst; one in two seconds is what this memory does."""
    assert floods(lambda seconds: 50_000.0 if seconds > 200 else 0.0) == []
    assert floods(lambda seconds: seconds // 2) == []


def test_a_counter_that_begins_anew_is_no_flood() -> None:
    """A driver that was loaded again counts from zero."""
    assert floods(lambda seconds: 9e9 if seconds < 200 else 0.0) == []
