"""A hang is told early where the GPUs give it away: busy, at little power, in a job that announces its pauses."""

from collections.abc import Iterator

import pytest
from msgspec import structs

from schemas.detection import Detection
from schemas.telemetry import SampleFrame
from schemas.topics import Record
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job

WORKING, SPINNING = 650.0, 250.0


def sampled(job: Job, seconds: float, watts: dict[str, float], util: float = 1.0) -> Iterator[Record]:
    """The node agents report every five seconds while there are no steps."""
    for _ in range(int(seconds / 5)):
        job.time += 5.0
        for node, power in watts.items():
            yield job.sample("gpu", [f"GPU-{node}"], node, gpu_util=[util], power_watts=[power])


def well(job: Job, node: str) -> SampleFrame:
    """What a node says of its GPUs while the job trains."""
    return job.sample("gpu", [f"GPU-{node}"], node, gpu_util=[1.0], power_watts=[WORKING])


def trained(job: Job, announces: bool = True) -> Fed[DetectMemory]:
    """A job that has run well for some steps, and saved once."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(30))
    if announces:
        fed.feed(job.event("checkpoint.begin", step=130))
        job.time += 15.0
        fed.feed(job.event("checkpoint.end", step=130))
    for _ in range(20):
        fed.feed(*job.run(3), *(well(job, node) for node in job.nodes))
    return fed


ALL = {"n1": SPINNING, "n2": SPINNING}


def stalled(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revisions of what was found about a standstill."""
    return list({one.id: one for one in fed.told(Detection) if one.detector == "stalled"}.values())


def test_spinning_gpus_tell_a_hang() -> None:
    """Half a minute is enough, and the words say why."""
    job = Job()
    fed = trained(job)
    stopped = job.time
    fed.feed(*sampled(job, 30, ALL))
    [hang] = stalled(fed)
    assert (hang.part, hang.onset_time) == ("spinning", stopped)
    assert "busy at 250 W, usually 650 W" in hang.text
    assert hang.limit == 20.0


def test_it_ends_with_the_next_step() -> None:
    """When steps come again, the finding ends, and the next standstill is judged as before."""
    job = Job()
    fed = trained(job)
    fed.feed(*sampled(job, 30, ALL), *job.run(30))
    [hang] = stalled(fed)
    assert hang.end_time is not None


@pytest.mark.parametrize(
    ("watts", "util"),
    [
        pytest.param({"n1": WORKING, "n2": WORKING}, 1.0, id="the GPUs work"),
        pytest.param({"n1": SPINNING, "n2": WORKING}, 1.0, id="a node works"),
        pytest.param(ALL, 0.5, id="the GPUs are half busy"),
        pytest.param(ALL, 0.0, id="the GPUs idle"),
    ],
)
def test_another_pause_is_waited_for(watts: dict[str, float], util: float) -> None:
    """GPUs that work, idle or do some of both are no sign of a hang: the usual five minutes count."""
    job = Job()
    fed = trained(job)
    fed.feed(*sampled(job, 280, watts, util))
    assert stalled(fed) == []


def test_a_job_that_announces_nothing_is_waited_for() -> None:
    """Where pauses are never announced, all ranks but one may wait for a save."""
    job = Job()
    fed = trained(job, announces=False)
    fed.feed(*sampled(job, 280, ALL))
    assert stalled(fed) == []


def test_an_announced_pause_is_no_hang() -> None:
    """While a save or an evaluation lasts, its ranks may spin as they like."""
    job = Job()
    fed = trained(job)
    fed.feed(job.event("phase.begin", phase="eval"), *sampled(job, 600, ALL))
    assert stalled(fed) == []


def test_a_job_with_long_pauses_is_given_twice_as_long() -> None:
    """A pause that nobody announced and that ended by itself may come again."""
    job = Job()
    fed = trained(job)
    fed.feed(*sampled(job, 60, {"n1": WORKING, "n2": WORKING}), *job.run(30))
    fed.feed(*sampled(job, 100, ALL))
    assert stalled(fed) == []
    fed.feed(*sampled(job, 30, ALL))
    assert len(stalled(fed)) == 1


def test_a_pause_may_come_again_and_be_longer() -> None:
    """Of a job that has once stood still for four minutes, which ended by itself, five minutes say nothing yet."""
    job = Job()
    fed = trained(job)
    working = {"n1": WORKING, "n2": WORKING}
    fed.feed(*sampled(job, 240, working), *job.run(30), *sampled(job, 450, working))
    assert stalled(fed) == []
    fed.feed(*sampled(job, 60, working))
    [found] = stalled(fed)
    assert found.limit == pytest.approx(2 * 240, abs=5)


def left(job: Job, rank: int = 3) -> list[Record]:
    """The last step, which one rank does not end: the frame of its node comes without it."""
    frames = job.run(1)
    at = next(place for place, frame in enumerate(frames) if rank in frame.ranks)
    mine = frames[at].ranks.index(rank)
    values = {name: [None if i == mine else x for i, x in enumerate(row)] for name, row in frames[at].values.items()}
    frames[at] = structs.replace(frames[at], values=values)
    return [*frames]


def test_the_ranks_that_did_not_end_the_step_are_as_good_as_announcements() -> None:
    """Where the others have ended the step and spin, nobody saves; the finding names who stopped."""
    job = Job()
    fed = trained(job, announces=False)
    fed.feed(*left(job), *sampled(job, 30, ALL))
    [hang] = stalled(fed)
    assert (hang.ranks, hang.nodes, hang.limit) == ((3,), ("n1",), 20.0)


def test_the_first_rank_may_be_saving() -> None:
    """A rank 0 that has not ended its step may be at a save that is counted to it."""
    job = Job()
    fed = trained(job, announces=False)
    fed.feed(*left(job, rank=0), *sampled(job, 280, ALL))
    assert stalled(fed) == []


def test_an_idle_gpu_is_somebody_at_work_on_the_host() -> None:
    """A frame came without a rank by chance, and another one's GPU idles, for it saves: the others wait for that."""
    job = Job()
    fed = trained(job, announces=False)
    fed.feed(*left(job))
    for _ in range(56):
        fed.feed(job.sample("gpu", ["GPU-0", "GPU-3"], "n1", [0, 3], gpu_util=[0.0, 1.0], power_watts=[90.0, SPINNING]))
        fed.feed(*sampled(job, 5, {"n2": SPINNING}))
    assert stalled(fed) == []


def active(job: Job, node: str, sm: float, hbm: float) -> SampleFrame:
    """What a node without power readings says of its GPUs."""
    return job.sample("gpu", [f"GPU-{node}"], node, gpu_util=[1.0], sm_active=[sm], hbm_active=[hbm])


@pytest.mark.parametrize(
    ("sm", "hbm", "found"),
    [
        pytest.param(0.15, 0.0, 1, id="a collective that spins"),
        pytest.param(0.15, 0.4, 0, id="a model that generates"),
        pytest.param(0.8, 0.4, 0, id="the GPUs work"),
    ],
)
def test_units_at_rest_tell_a_hang_without_power(sm: float, hbm: float, found: int) -> None:
    """Of a job that announces nothing and names nobody, GPUs whose units rest tell a hang after a minute."""
    job = Job()
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(30))
    for _ in range(20):
        fed.feed(*job.run(3), *(active(job, node, 0.8, 0.4) for node in job.nodes))
    for _ in range(16):
        job.time += 5.0
        fed.feed(*(active(job, node, sm, hbm) for node in job.nodes))
    assert len(stalled(fed)) == found
