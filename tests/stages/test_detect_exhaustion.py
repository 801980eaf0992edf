"""What runs out, through the detect stage."""

from collections.abc import Callable

import pytest

from schemas.detection import Detection
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job

GB = 1e9


def lived(memory: Callable[[float], float], minutes: int, every: float = 30.0) -> Fed[DetectMemory]:
    """A job whose second node has so much memory left after so many minutes; its nodes are read every half minute."""
    job, fed = Job(), Fed(Detect())
    fed.feed(job.started(), *job.run(10))
    begin = job.time
    while job.time < begin + 60.0 * minutes:
        fed.feed(*job.run(1))
        job.time += every - 1.0
        minute = (job.time - begin) / 60.0
        for node, left in (("n1", 200 * GB), ("n2", memory(minute))):
            fed.feed(job.sample("node", [node], node, memory_available_bytes=[left]))
    return fed


def leaks(fed: Fed[DetectMemory]) -> list[Detection]:
    """Every revision of what was found to run out."""
    return [one for one in fed.told(Detection) if one.detector == "trend"]


@pytest.mark.parametrize("every", [10.0, 30.0, 60.0])
def test_a_leak_is_told_hours_ahead(every: float) -> None:
    """Memory that falls by a gigabyte a minute is told with its node and with how long it lasts, to a fifth."""
    found = leaks(lived(lambda minute: (200 - max(0.0, minute - 20)) * GB, 110, every))
    assert (found[0].signal, found[0].nodes, found[0].subject) == ("memory_available_bytes", ("n2",), "node:n2")
    left = 200 - (found[0].time - 1_740_000_000.0) / 60 + 20
    assert found[0].numbers["seconds_left"] / 60 == pytest.approx(left, rel=0.2)
    assert found[0].time - found[0].onset_time <= 42 * 60
    assert "goes steadily to its end" in found[0].text


@pytest.mark.parametrize(
    "memory",
    [
        pytest.param(lambda _: 200 * GB, id="nothing happens"),
        pytest.param(lambda minute: (200 - minute % 30) * GB, id="it comes back"),
        pytest.param(lambda minute: (120 + 80 * 0.9**minute) * GB, id="a buffer fills and is full"),
        pytest.param(lambda minute: (200 if minute < 50 else 90) * GB, id="one large allocation"),
    ],
)
def test_what_comes_to_rest_is_no_leak(memory: Callable[[float], float]) -> None:
    """Memory that is used and given back, or used once, does not run out."""
    assert leaks(lived(memory, 110)) == []


def test_a_leak_that_stops_is_over() -> None:
    """When the process that leaked is gone, the finding ends."""
    found = leaks(lived(lambda minute: (200 - min(minute, 100)) * GB if minute < 100 else 200 * GB, 160))
    assert found[-1].end_time is not None


def test_a_mount_that_fills_is_found_from_several_nodes() -> None:
    """Space is one thing for all nodes that report it; it is told half a day ahead."""
    job, fed = Job(), Fed(Detect())
    fed.feed(job.started(), *job.run(10))
    for minute in range(0, 5 * 60, 2):
        job.time += 118.0
        fed.feed(*job.run(1))
        fed.feed(*(job.sample("mount", ["/ckpt"], node, space_free_bytes=[(900 - minute) * GB]) for node in job.nodes))
    found = leaks(fed)
    assert (found[0].signal, found[0].subject, found[0].nodes) == ("space_free_bytes", "mount:/ckpt", ())
