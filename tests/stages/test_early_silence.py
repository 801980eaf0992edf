"""A source that falls silent is known early where no pause of the job explains it, and held before anybody is paged."""

from collections.abc import Iterator

import pytest

from schemas.detection import Detection
from schemas.telemetry import Event, SampleFrame, StepFrame, Tick
from schemas.topics import Record
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.acceptance.stories import Story, incidents_of
from tests.stages.build import Fed, Job


def watched(job: Job, seconds: float, every: float, nodes: tuple[str, ...]) -> Iterator[SampleFrame]:
    """Samples alone: the job stands still."""
    for _ in range(int(seconds / every)):
        job.time += every
        for node in nodes:
            yield job.sample("node", [node], node, cpu_util=[0.3])


def without(job: Job, steps: int, node: str) -> list[StepFrame]:
    """Steps of which one node does not tell."""
    return [frame for frame in job.run(steps) if frame.node != node]


def trained(job: Job) -> Fed[DetectMemory]:
    """A job that has run well for some steps."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(60))
    return fed


def silences(fed: Fed[DetectMemory]) -> list[Detection]:
    """The last revision of every silence that was found."""
    last = {one.id: one for one in fed.told(Detection) if one.detector == "silence"}
    return list(last.values())


def test_a_node_that_others_go_on_without() -> None:
    """Half a minute of steps without a node is enough; two minutes are what the word is held for."""
    job = Job()
    fed = trained(job)
    silent_since = job.time
    fed.feed(*without(job, 30, "n2"))
    [silence] = silences(fed)
    assert (silence.part, silence.nodes, silence.onset_time) == ("held", ("n2",), silent_since)
    assert silence.time - silent_since <= 30.0
    fed.feed(*without(job, 100, "n2"))
    [silence] = silences(fed)
    assert silence.part == "some"
    fed.feed(*job.run(5))
    assert silences(fed)[0].end_time is not None


def test_a_node_that_comes_back_soon() -> None:
    """The early word ends with the node's next one, and the next silence is another finding."""
    job = Job()
    fed = trained(job)
    fed.feed(*without(job, 30, "n2"), *job.run(30))
    [silence] = silences(fed)
    assert (silence.part, silence.end_time is not None) == ("held", True)
    fed.feed(*without(job, 30, "n2"))
    assert [one.end_time is None for one in silences(fed)] == [False, True]


@pytest.mark.parametrize("nodes", [("n1", "n2"), ("n1",)], ids=["both are sampled", "one is sampled"])
def test_a_pause_of_the_job_is_no_silence(nodes: tuple[str, ...]) -> None:
    """While no steps come, a node whose samples are far apart has nothing to say."""
    job = Job()
    fed = trained(job)
    fed.feed(*watched(job, 90, 30.0, nodes), *job.run(2))
    assert silences(fed) == []


def ticks(job: Job, seconds: float) -> Iterator[Tick]:
    """Time passes and nobody speaks."""
    for _ in range(int(seconds / 5)):
        job.time += 5.0
        yield Tick(time=job.time)


def running(job: Job, state: str = "running") -> Event:
    """The scheduler's word."""
    return job.event("scheduler.status", node="scheduler", state=state)


@pytest.mark.parametrize(("state", "found"), [("running", 2), ("completing", 0)])
def test_a_job_that_its_scheduler_calls_running(state: str, found: int) -> None:
    """All nodes silent at once is a loss of telemetry where the job is said to run, and may be its end otherwise."""
    job = Job()
    fed = trained(job)
    fed.feed(running(job, state), *ticks(job, 45))
    assert len(silences(fed)) == found
    assert {one.part for one in silences(fed)} <= {"held_all"}


def test_nobody_is_paged_before_it_has_lasted() -> None:
    """The incident is told at once as `info`, which neither pages nor acts, and becomes a warning after two minutes."""

    def severity(steps: int) -> str:
        job = Job()
        story: Story = [job.started(), *job.run(60), *without(job, steps, "n2")]
        [incident] = incidents_of(story)
        assert (incident["cause"], incident["nodes"]) == ("telemetry_gone", ["n2"])
        return str(incident["severity"])

    assert [severity(50), severity(200)] == ["info", "warning"]


def test_one_tick_says_little_of_how_long_it_was_silent() -> None:
    """Sources that speak often stay known for that: when the last record came before the first tick is not known."""
    job = Job()
    fed = trained(job)
    story: list[Record] = []
    for _ in range(40):
        story += [*job.run(4), Tick(time=job.time)]
    fed.feed(*story)
    assert fed.memory.attempt is not None
    assert fed.memory.attempt.voices.silence is not None
    assert float(fed.memory.attempt.voices.silence.typical.max()) < 3.0
