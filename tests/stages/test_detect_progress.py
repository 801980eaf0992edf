"""Jobs that stand still and sources that fall silent, on the stream's own clock."""

from collections.abc import Iterator

import pytest
from msgspec import structs

from schemas.detection import Detection
from schemas.telemetry import StepFrame, Tick
from schemas.topics import Record
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from tests.stages.build import Fed, Job


def watched(job: Job, seconds: float, util: float = 1.0, nodes: tuple[str, ...] = ("n1", "n2")) -> Iterator[Record]:
    """The node agents go on reporting every five seconds while there are no steps."""
    for _ in range(int(seconds / 5)):
        job.time += 5.0
        for node in nodes:
            yield job.sample("gpu", [f"GPU-{node}"], node, gpu_util=[util])


def found(fed: Fed[DetectMemory], detector: str) -> list[Detection]:
    """The last revisions of a detector's findings."""
    return list({one.id: one for one in fed.told(Detection) if one.detector == detector}.values())


def trained(job: Job, steps: int = 60) -> Fed[DetectMemory]:
    """A job that has run well for some steps."""
    fed = Fed(Detect())
    fed.feed(job.started(), *job.run(steps))
    return fed


def test_a_hang_is_found_while_the_machines_still_speak() -> None:
    """Five minutes without a step are a finding, dated to the last step and its time."""
    job = Job()
    fed = trained(job)
    stopped = job.time
    fed.feed(*watched(job, 290))
    assert found(fed, "stalled") == []
    fed.feed(*watched(job, 30))
    [hang] = found(fed, "stalled")
    assert (hang.onset_step, hang.onset_time, hang.end_time) == (159, stopped, None)
    assert "no step for 300 s after step 159" in hang.text or "no step for 5 min" in hang.text


def test_a_hang_ends_with_the_next_step() -> None:
    """When steps come again, the finding ends."""
    job = Job()
    fed = trained(job)
    fed.feed(*watched(job, 600), *job.run(5))
    [hang] = found(fed, "stalled")
    assert hang.end_step is not None
    assert hang.end_time == pytest.approx(job.time, abs=10)


def test_the_ranks_that_stopped_first_are_named() -> None:
    """Of a rank that is one step behind the others, rank, node and GPU are told."""
    job = Job()
    fed = trained(job)
    last = job.run(1)
    fed.feed(*(frame_without(frame, 6) for frame in last), *watched(job, 400))
    [hang] = found(fed, "stalled")
    assert (hang.ranks, hang.nodes, hang.gpus) == ((6,), ("n2",), ("GPU-6",))
    assert "1 rank stopped before the others: 6" in hang.text


def frame_without(frame: StepFrame, rank: int) -> StepFrame:
    """The same frame as it is when one rank has not come so far."""
    fields = {name: getattr(frame, name) for name in frame.__struct_fields__}
    keep = [place for place, one in enumerate(frame.ranks) if one != rank]
    values = {name: [row[place] for place in keep] for name, row in frame.values.items()}
    return StepFrame(**{**fields, "ranks": [frame.ranks[place] for place in keep], "values": values})


def test_an_announced_phase_is_no_hang() -> None:
    """Forty minutes of evaluation are excused; ten minutes after its budget they are no longer."""
    job = Job()
    fed = trained(job)
    fed.feed(job.event("phase.begin", phase="eval"), *watched(job, 2400))
    assert found(fed, "stalled") == []
    fed.feed(*watched(job, 1800))
    assert len(found(fed, "stalled")) == 1


def test_an_end_that_nobody_opened_switches_nothing_off() -> None:
    """An unmatched end of a phase does not excuse a hang."""
    job = Job()
    fed = trained(job)
    fed.feed(job.event("phase.end", phase="eval"), *watched(job, 400))
    assert len(found(fed, "stalled")) == 1


def test_idle_gpus_are_given_more_time() -> None:
    """GPUs that idle wait for their host or for a phase that nobody announced: not five minutes, but thirty."""
    job = Job()
    fed = trained(job)
    fed.feed(*watched(job, 1700, util=0.0))
    assert found(fed, "stalled") == []
    fed.feed(*watched(job, 400, util=0.0))
    assert len(found(fed, "stalled")) == 1


def test_a_job_that_is_done_does_not_hang() -> None:
    """After its last planned step a job may take its time to end."""
    job = Job()
    fed = Fed(Detect())
    fed.feed(job.started(total_steps=159), *job.run(60), *watched(job, 900))
    assert found(fed, "stalled") == []


def test_a_job_that_has_ended_does_not_hang() -> None:
    """After `attempt.ended` nothing is found any more, whatever the node agents still send."""
    job = Job()
    fed = trained(job)
    fed.feed(job.event("attempt.ended", reason="finished"), *watched(job, 900))
    assert fed.told(Detection) == []


def test_a_start_may_take_an_hour() -> None:
    """Before the first step an hour passes without a finding, and no more."""
    job = Job()
    fed = Fed(Detect())
    fed.feed(job.started(), *watched(job, 3590))
    assert found(fed, "stalled") == []
    fed.feed(*watched(job, 30))
    [hang] = found(fed, "stalled")
    assert hang.onset_step is None


def test_a_node_that_falls_silent() -> None:
    """A node that says nothing for two minutes while another speaks is named, dated to the step it spoke last at."""
    job = Job()
    fed = trained(job)
    silent_since, step = job.time, job.step
    fed.feed(*(frame for frame in job.run(150) if frame.node == "n1"))
    [silence] = found(fed, "silence")
    assert (silence.subject, silence.nodes, silence.onset_time) == ("node:n2", ("n2",), silent_since)
    assert silence.onset_step == step - 1
    fed.feed(*job.run(5))
    assert found(fed, "silence")[0].end_time is not None


def test_the_only_source_is_not_missed() -> None:
    """Silence is told by others that speak: of a lone source nobody can say that it is silent and not done."""
    job = Job(nodes=1)
    fed = Fed(Detect())
    fed.feed(*job.run(60))
    for _ in range(100):
        job.time += 5.0
        fed.feed(Tick(time=job.time))
    assert found(fed, "silence") == []


def test_ticks_let_time_pass() -> None:
    """Where all sources fall silent at once, the runtime's ticks show that the job stands still."""
    job = Job()
    fed = trained(job)
    for _ in range(70):
        job.time += 5.0
        fed.feed(Tick(time=job.time))
    assert len(found(fed, "stalled")) == 1


def test_the_absence_of_the_runtime_is_not_the_jobs() -> None:
    """A gap between two ticks, in which the runtime itself was away, counts for no more than two of them."""
    job = Job()
    fed = trained(job)
    fed.feed(Tick(time=job.time))
    for hour in range(1, 6):
        fed.feed(Tick(time=job.time + 3600.0 * hour))
    assert fed.told(Detection) == []


def test_a_tick_before_any_telemetry_is_passed_on() -> None:
    """A runtime that starts before the job says nothing about it."""
    fed = Fed(Detect())
    told = fed.feed(Tick(time=1.0))
    assert [sent.topic for sent in told] == ["events"]


@pytest.mark.parametrize("told", [True, False])
def test_what_could_not_be_seen_is_not_taken_for_a_standstill(told: bool) -> None:
    """Behind a stretch that was lost on the way nothing is found, if that is told first; else the job seems to hang."""
    job = Job()
    fed = trained(job)
    job.run(1000)
    if told:
        fed.feed(job.event("history.resumed", "worker"))
    fed.feed(*watched(job, 20), *job.run(60))
    assert bool(fed.told(Detection)) is not told


def test_a_job_that_stands_still_behind_a_loss_is_found() -> None:
    """Who says that from here on everything is seen again is held to it: no step for five minutes is a finding."""
    job = Job()
    fed = trained(job)
    job.run(1000)
    fed.feed(job.event("history.resumed", "worker"))
    seen_again = job.time
    fed.feed(*watched(job, 320))
    [hang] = found(fed, "stalled")
    assert (hang.onset_step, hang.onset_time) == (159, seen_again)


def test_sources_that_were_lost_for_a_while_are_not_silent() -> None:
    """A node whose words were lost is silent only from where the others are heard again."""
    job = Job()
    fed = trained(job)
    fed.feed(*watched(job, 300))
    job.time += 1000.0
    fed.feed(job.event("history.resumed", "worker"), *watched(job, 100, nodes=("n1",)))
    assert found(fed, "silence") == []
    fed.feed(*watched(job, 200, nodes=("n1",)))
    [silent] = found(fed, "silence")
    assert silent.nodes == ("n2",)


def done(job: Job) -> Record:
    """The trainer's last word."""
    said = job.event("log.line", node="n1", level="INFO")
    return structs.replace(said, text="Trainer.fit stopped: max_epochs=3 reached.")


def test_a_job_that_says_that_it_is_done_does_not_hang() -> None:
    """What stands still after the trainer's last word has done its work, although its number of steps is unknown."""
    job = Job()
    fed = trained(job)
    fed.feed(done(job), *watched(job, 900))
    assert found(fed, "stalled") == []


def test_a_last_word_that_was_none_is_taken_back() -> None:
    """A job that trains on after it said that it was done can hang like any other."""
    job = Job()
    fed = trained(job)
    fed.feed(done(job), *job.run(90), *watched(job, 900))
    assert len(found(fed, "stalled")) == 1


def test_a_rank_that_ends_after_the_last_word_is_nobody_to_blame() -> None:
    """Of a job that fails while it shuts down, no rank is named for having ended first."""
    job = Job()
    fed = trained(job)
    fed.feed(done(job), job.event("rank.exit", node="n2", rank=6, exit_code=134))
    fed.feed(job.event("attempt.ended", reason="failed"), Tick(time=job.time + 60.0))
    fed.flush()
    [crash] = found(fed, "crash")
    assert (crash.part, crash.ranks, crash.nodes) == ("", (), ())
