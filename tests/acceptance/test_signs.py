"""Stories that only the events tell: who is named, since when, and who is not."""

import math
from typing import Any

import pytest

from schemas.telemetry import Event
from tests.acceptance.stories import Story, cluster_event, incidents_of, timed_out
from tests.stages.build import START, Job


def trained(steps: int = 60, **started: Any) -> tuple[Job, Story]:  # Any: data of the start
    """A job that has trained for a while."""
    job = Job()
    return job, [job.started(**started), *job.run(steps)]


def line(job: Job, text: str, node: str = "n1", level: str = "ERROR") -> Event:
    """A line of a log."""
    event = job.event("log.line", node=node, level=level)
    return Event(**{name: getattr(event, name) for name in event.__struct_fields__ if name != "text"}, text=text)


def test_the_rank_that_is_missing_among_time_outs_is_named() -> None:
    """Seven ranks of eight wait; the one that says nothing is the one they wait for."""
    job, story = trained()
    job.time += 600.0
    story += [*timed_out(job, [rank for rank in range(8) if rank != 5]), job.event("attempt.ended", reason="failed")]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("hang", [5], ["n2"])
    assert incident["onset_step"] == 159


def test_time_outs_of_all_ranks_name_nobody() -> None:
    """All wait in the same collective: a hang, and nobody is accused."""
    job, story = trained()
    job.time += 600.0
    [incident] = incidents_of([*story, *timed_out(job, range(8))])
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("hang", [], [])


def test_the_rank_behind_the_others_is_named() -> None:
    """One rank waits in an earlier collective than all others."""
    job, story = trained()
    job.time += 600.0
    story += [*timed_out(job, range(7), seq=8), *timed_out(job, [7], seq=7)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"]) == ("hang", [7])


def test_different_collectives_are_a_fault_of_the_program() -> None:
    """At one place of the sequence two ranks broadcast different sizes."""
    job, story = trained()
    job.time += 600.0
    story += [*timed_out(job, [2], op="BROADCAST", numel_in=64), *timed_out(job, [3], op="BROADCAST", numel_in=4096)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["ranks"]) == ("collective_mismatch", "software", [])


def test_a_hang_after_the_last_step_restarts_nothing() -> None:
    """The run is through when its final barrier times out: a person is told and no restart is considered."""
    job, story = trained(total_steps=159)
    job.time += 1800.0
    [incident] = incidents_of([*story, *timed_out(job, range(4), numel_in=1)])
    assert incident["cause"] == "shutdown_barrier"
    assert {entry["action"] for entry in incident["actions"]} == {"notify"}


def test_a_save_that_never_ends_is_blamed_on_its_writer() -> None:
    """The rank that writes is named, the onset is the begin of the save, and the network is left alone."""
    job, story = trained()
    story.append(job.event("checkpoint.begin", node="n1", step=159, rank=0))
    began = job.time
    job.time += 1200.0
    [incident] = incidents_of([*story, *timed_out(job, range(1, 8))])
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("checkpoint_stuck", [0], ["n1"])
    assert incident["onset_time"] == pytest.approx(began)


@pytest.mark.parametrize(
    ("sizes", "broken"),
    [([9, 9, 0, 9], True), ([9, 9, 8, 9, 9], True), ([9, 9, 9, 4], False), ([3, 5, 7, 9], False), ([9] * 8, False)],
)
def test_an_incomplete_save_is_told_when_it_is_written(sizes: list[int], broken: bool) -> None:
    """Empty and short shards break a save; a smaller last one and shards of all sizes do not."""
    job, story = trained()
    story += [job.event("checkpoint.shards", step=159, sizes=sizes), *job.run(20)]
    assert [one["cause"] for one in incidents_of(story)] == (["checkpoint_incomplete"] if broken else [])


def test_the_one_rank_that_waits_for_its_loader_is_named() -> None:
    """Stack dumps show seven ranks in a collective and one at its loader's queue."""
    job, story = trained()
    for _ in range(60):
        job.time += 10.0
        story.append(job.sample("gpu", ["GPU-0"], "n1", [0], gpu_util=[1.0]))
    groups = [{"where": "nccl all_reduce", "count": 7}, {"where": "loader queue get", "count": 1, "ranks": [6]}]
    story.append(job.event("stack.summary", groups=groups))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("loader_deadlock", [6], ["n2"])


@pytest.mark.parametrize(
    ("groups", "named"),
    [
        ([{"where": "all_reduce of the loss", "count": 7}, {"where": "barrier", "count": 1, "ranks": [6]}], [6]),
        ([{"where": "all_reduce", "count": 4}, {"where": "barrier", "count": 4, "ranks": [4, 5, 6, 7]}], []),
        ([{"where": "all_reduce", "count": 7}, {"where": "send to stage 1", "count": 1, "ranks": [6]}], []),
        ([{"where": "all_reduce", "count": 6}, {"where": "barrier", "count": 1}, {"where": "barrier", "count": 1}], []),
    ],
)  # fmt: skip
def test_the_one_rank_that_waits_in_another_collective_is_named(groups: list[dict[str, Any]], named: list[int]) -> None:
    """Where all others are in the same one; two halves, stages that send and several that went astray name nobody."""
    job, story = trained()
    for _ in range(90):
        job.time += 10.0
        story.append(job.sample("gpu", ["GPU-0"], "n1", [0], gpu_util=[1.0]))
    story.append(job.event("stack.summary", groups=groups))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"]) == ("hang", named)


def test_the_first_error_is_the_culprit_and_the_flood_is_not() -> None:
    """One rank's error, five minutes later eight ranks abort: one incident, dated to the first line."""
    job, story = trained()
    first = job.time
    story.append(job.event("rank.error", node="n2", rank=6, error="cudaErrorIllegalInstruction"))
    job.time += 300.0
    for rank in [0, 1, 2, 3, 4, 5, 7]:
        story.append(job.event("rank.error", node=job.node_of(rank), rank=rank, error="barrier deadline"))
    story.append(job.event("attempt.ended", reason="failed"))
    [incident] = incidents_of(story)
    assert (incident["layer"], incident["ranks"], incident["nodes"]) == ("gpu", [6], ["n2"])
    assert incident["onset_time"] == pytest.approx(first)


def test_the_node_that_is_in_every_failed_attempt_is_named() -> None:
    """Two attempts on different nodes fail; the only node of both is the culprit, of one story over both attempts."""
    first = Job(nodes=8, ranks=1)
    story: Story = [first.started(), *first.run(40), line(first, "CUDA error: unspecified launch failure")]
    story.append(first.event("attempt.ended", reason="failed"))
    second = Job(nodes=8, ranks=1, attempt=2, step=120, time=first.time + 100.0)
    second.nodes = ["n3", *(f"m{number}" for number in range(7))]
    story += [second.started(), line(second, "CUDA error: out of memory")]
    story.append(second.event("attempt.ended", reason="failed"))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("bad_node_in_attempts", ["n3"])
    assert incident["onset_step"] == 139


def failing(*, first: list[list[int]], together: bool = False, error: str = "RuntimeError: no kernel image") -> Story:
    """Starts of 8 nodes with two ranks each that all fail: which ranks raise first, and that all others follow."""
    job = Job(nodes=8, ranks=2)
    story: Story = []
    for ranks in first:
        story += [job.started(), *job.run(3)]
        for rank in [*ranks, *(rank for rank in range(job.size) if rank not in ranks)]:
            job.time += 0.0 if together or rank in ranks else 1.0
            story.append(job.event("rank.error", node=job.node_of(rank), rank=rank, error=error))
        story.append(job.event("attempt.ended", reason="failed"))
        job = job.restarted(job.step, after=30.0)
    return story


def test_the_node_on_which_every_start_fails_first_is_named() -> None:
    """The placement is the same each time; whoever raises first, it is a rank of one node."""
    [incident] = incidents_of(failing(first=[[10], [11], [10, 11]]))
    assert (incident["cause"], incident["nodes"]) == ("node_fails_first", ["n6"])
    assert "node.cordon" not in {one["action"] for one in incident["actions"] if one["decision"] == "would_act"}


def test_gpus_of_one_node_that_fail_first_are_its_gpus_matter() -> None:
    """Whoever raises, it is an error of the device, on another GPU of the same node."""
    story = failing(first=[[10], [11], [10]], error="CUDA error: an illegal instruction was encountered")
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["layer"], incident["nodes"]) == ("bad_node_in_attempts", "gpu", ["n6"])


@pytest.mark.parametrize(
    ("first", "together"),
    [([[0], [0], [0]], False), ([[10], [10]], False), ([[10], [3], [11]], False), ([[10], [11]], True)],
)
def test_a_rank_that_always_fails_first_accuses_no_node(first: list[list[int]], together: bool) -> None:
    """It may be what that rank has to do; different nodes, or all ranks at once, accuse nobody."""
    incidents = incidents_of(failing(first=first, together=together))
    assert "node_fails_first" not in {one["cause"] for one in incidents}


def test_a_node_that_leaves_each_time_is_one_incident() -> None:
    """Five attempts, five departures: one restart loop with its node, whatever ranks it had."""
    job = Job()
    story: Story = []
    for _ in range(5):
        story += [job.started(), *job.run(12), job.event("node.left", subject="n2")]
        story.append(job.event("attempt.ended", reason="failed"))
        job = job.restarted(job.step, after=8.0)
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("restart_loop", ["n2"])


def test_a_loader_that_starves_at_a_period_is_one_incident() -> None:
    """Every eighth step waits for its batch: the loader's part of the step is named, and no rank."""
    job, story = trained(30)
    for _ in range(12):
        story += [*job.run(7), *job.run(1, loader=4.0)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == ("recurring_loader_stall", [], [])
    assert "every 8 steps" in incident["evidence"][1]["text"]


def test_two_long_steps_are_no_pattern() -> None:
    """Lone stalls happen and page nobody."""
    job, story = trained()
    story += [*job.run(1, loader=3.0), *job.run(80), *job.run(1, loader=3.0), *job.run(60)]
    assert incidents_of(story) == []


def test_a_learning_rate_that_begins_anew_is_told_at_the_resume() -> None:
    """The schedule is broken at the first step, long before the loss shows it."""
    job = Job()
    story: Story = [job.started(), *job.run(60, learning_rate=1e-4), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(job.step)
    story += [after.started(resume_step=159), *after.run(20, learning_rate=1e-6)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["onset_step"]) == ("learning_rate_discontinuity", 160)


@pytest.mark.parametrize("rate", [1e-4, 0.9e-4])
def test_a_learning_rate_that_goes_on_is_silent(rate: float) -> None:
    """Where the schedule goes on, nothing is told."""
    job = Job()
    story: Story = [job.started(), *job.run(60, learning_rate=1e-4), job.event("attempt.ended", reason="requeued")]
    after = job.restarted(job.step)
    assert incidents_of([*story, after.started(resume_step=159), *after.run(40, learning_rate=rate)]) == []


@pytest.mark.parametrize(("fingerprint", "causes"), [("f2", ["loss_level_changed"]), ("f1", [])])
def test_a_loss_on_another_level_belongs_to_the_new_version(fingerprint: str, causes: list[str]) -> None:
    """Twice the loss at the same steps is the configuration's where that has changed."""
    job = Job()
    story: Story = [job.started(), *job.run(60, loss=2.0), job.event("attempt.ended", reason="finished")]
    after = job.restarted(100)
    story += [after.started(fingerprint=fingerprint), *after.run(30, loss=4.0)]
    found = [one["cause"] for one in incidents_of(story)]
    assert "loss_level_changed" in found if causes else "loss_level_changed" not in found


def test_samples_that_come_again_in_their_epoch_are_told() -> None:
    """After a resume the sampler goes on in an order it had before; steps that were taken back are none of it."""
    job = Job(nodes=1, ranks=4)

    def run(on: Job, steps: int, first: int) -> Story:
        told: Story = []
        for number, frame in enumerate(on.run(steps, epoch=1.0)):
            frame.values["sample_id"] = [float(first + 4 * number + rank) for rank in range(4)]
            told.append(frame)
        return told

    story: Story = [job.started(), *run(job, 60, 0), job.event("attempt.ended", reason="requeued")]
    good, bad = job.restarted(150), job.restarted(150)
    resumed = [good.started(resume_step=149), *run(good, 40, 200)]
    assert incidents_of([*story, *resumed]) == []
    [incident] = incidents_of([*story, bad.started(resume_step=149), *run(bad, 40, 40)])
    assert (incident["cause"], incident["onset_step"]) == ("data_order_repeated", 150)


def test_a_loss_that_vanishes_is_critical() -> None:
    """Zero is no improvement."""
    job, story = trained(2, fingerprint="f")
    [incident] = incidents_of([*story, *job.run(30, loss=0.0)])
    assert (incident["cause"], incident["severity"], incident["onset_step"]) == ("labels_broken", "critical", 102)


def test_a_metric_at_zero_on_a_busy_gpu_is_the_collectors() -> None:
    """The GPU is named, and neither it nor its node is at fault."""
    job, story = trained(10)
    for number in range(30):
        story += job.run(5)
        alive = 0.8 if number < 10 else 0.0
        ids, ranks = ["GPU-0", "GPU-1"], [0, 1]
        story.append(job.sample("gpu", ids, "n1", ranks, gpu_util=[1.0, 1.0], sm_active=[0.8, alive]))
    [incident] = incidents_of(story)
    assert (incident["layer"], incident["gpus"]) == ("monitoring", ["GPU-1"])


def test_memory_that_runs_out_is_told_before_it_is_gone() -> None:
    """A steady fall opens an incident with hours to spare; a page cache that comes and goes does not."""
    job, story = trained(10)
    for minute in range(60):
        story += job.run(50)
        left = [60e9 - 0.5e9 * minute, 60e9 - 5e9 * (minute % 3)]
        for node, value in zip(("n1", "n2"), left, strict=True):
            story.append(job.sample("node", [node], node, memory_available_bytes=[value]))
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("host_memory", ["n1"])


def test_a_gauge_that_turns_to_a_terminal_xid_is_a_gpus_fault() -> None:
    """Only the edge counts, and only of codes after which a GPU is of no use."""
    job, story = trained(10)
    for number in range(12):
        story += job.run(5)
        codes: list[float | None] = [31.0, 79.0 if number > 6 else 0.0]
        story.append(job.sample("gpu", ["GPU-0", "GPU-1"], "n1", [0, 1], xid_last=codes))
    [incident] = incidents_of([*story, *job.run(20)])
    assert (incident["cause"], incident["gpus"]) == ("gpu_failed", ["GPU-1"])


def test_a_machine_that_comes_back_under_another_name_is_told() -> None:
    """Identity is the GPU; the same name again is a repair."""
    gpus = ["GPU-a", "GPU-b"]
    gone = cluster_event("node.removed", 0.0, 1, "n5", gpus=gpus, reason="memory errors")
    [incident] = incidents_of([gone, cluster_event("node.joined", 900.0, 2, "n21", gpus=gpus)])
    assert (incident["cause"], incident["nodes"]) == ("gpu_returned", ["n21"])
    assert incidents_of([gone, cluster_event("node.joined", 900.0, 2, "n5", gpus=gpus)]) == []


def test_many_nodes_missing_at_once_are_one_incident() -> None:
    """Sixteen nodes within a minute: one incident, nobody to cordon."""
    story: Story = [cluster_event("node.missing", 3.0 * number, number, f"n{number}") for number in range(16)]
    [incident] = incidents_of(story)
    assert (incident["layer"], incident["nodes"]) == ("scheduler", [])


@pytest.mark.parametrize(("reason", "incidents"), [("time_limit", 1), ("finished", 0)])
def test_a_planned_end_without_a_successor_is_told_once(reason: str, incidents: int) -> None:
    """Hourly reminders make no further incident, and what has finished needs no successor."""
    job, story = trained()
    story.append(job.event("attempt.ended", reason=reason))
    for _ in range(3):
        job.time += 3600.0
        story.append(job.event("scheduler.status", node="scheduler", state="none", tasks=0))
    found = incidents_of(story)
    assert [one["layer"] for one in found] == ["scheduler"] * incidents


def test_the_same_gpu_in_three_jobs_is_the_gpus_fault() -> None:
    """Once is the program; the third job that fails on the same GPU is told what the fleet knows."""
    story: Story = []
    for number in range(3):
        job = Job(time=START + 5000.0 * number)
        failed: Story = [job.started(), *job.run(40), job.event("xid", node="n1", subject="GPU-2", code=13)]
        failed.append(job.event("attempt.ended", reason="failed"))
        story += [_of(record, f"job-{number}") for record in failed]
    found = {one["job"]: one for one in incidents_of(story)}
    assert [found[f"job-{number}"]["layer"] for number in range(3)] == ["software", "software", "gpu"]
    assert found["job-2"]["gpus"] == ["GPU-2"]


def test_the_one_node_of_all_bad_runs_is_named_across_runs() -> None:
    """Nine runs; the loss rises in the three that had n7, and within one run nobody could tell."""
    story: Story = []
    for number in range(9):
        bad = number % 3 == 0
        job = Job(nodes=3, ranks=1, time=START + 5000.0 * number, seed=number)
        job.nodes = ["n7" if bad else f"m{number}", f"a{number}", f"b{(number * 5) % 7}"]
        run: Story = [job.started()]
        for step in range(100):
            drift = 0.02 * step if bad and step > 50 else -0.002 * step
            run += job.run(1, loss=2.0 + drift / 10 + 0.001 * math.sin(step))
        run.append(job.event("attempt.ended", reason="finished"))
        story += [_of(record, f"job-{number}") for record in run]
    named = [one for one in incidents_of(story) if one["cause"] == "silent_corruption"]
    assert [(one["nodes"], one["job"]) for one in named] == [(["n7"], "default")]


def _of(record: Any, job: str) -> Any:  # Any: one of the records of telemetry
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return type(record)(**{**fields, "job": job})


def test_ports_that_flap_are_one_incident_with_the_worst_reporter() -> None:
    """Forty port errors of four nodes over minutes page once; the node with most of them is named and no other."""
    job = Job(nodes=4, ranks=2)
    story: Story = [job.started(), *job.run(60)]
    for number in range(20):
        story += job.run(25)
        reporter = "n3" if number % 4 else f"n{1 + number // 4 % 2}"
        story.append(job.event("nccl.port_error", node=reporter, subject="mlx5_0", hca="mlx5_0"))
    [incident] = incidents_of([*story, *job.run(30)])
    assert (incident["cause"], incident["nodes"]) == ("link_flap", ["n3"])
    assert [entry["decision"] for entry in incident["actions"] if entry["action"] == "notify"] == ["act"]


def test_several_reporters_alike_name_nobody() -> None:
    """Where every node reports as much as the others, what they share is to blame."""
    job = Job(nodes=4, ranks=2)
    story: Story = [job.started(), *job.run(60)]
    for number in range(12):
        story += [*job.run(10), job.event("nccl.port_error", node=f"n{1 + number % 4}", subject="mlx5_0")]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"]) == ("link_flap", [])


def test_a_recurrence_opens_an_incident_that_is_linked() -> None:
    """A rank that is slow, well, and slow again an hour later: two incidents, the second knows of the first."""
    job, story = trained()
    story += [*job.run(120, slow={5: 1.4}), *job.run(300), *job.run(120, slow={5: 1.4})]
    first, second = sorted(incidents_of(story), key=lambda one: one["onset_step"])
    assert (first["cause"], second["cause"]) == ("slow_gpu", "slow_gpu")
    assert (first["linked"], second["linked"]) == ("", first["id"])


def test_what_comes_back_again_and_again_is_told_twice() -> None:
    """A rank that is slow for thirty steps of every hundred: the first time, and then all that repeats it."""
    job, story = trained()
    for _ in range(5):
        story += [*job.run(30, slow={5: 1.4}), *job.run(70)]
    first, rest = sorted(incidents_of(story), key=lambda one: one["onset_step"])
    assert (first["cause"], rest["cause"], rest["linked"]) == ("slow_gpu", "slow_gpu", first["id"])
    assert (rest["state"], rest["ranks"]) == ("recovering", [5])
    assert rest["end_step"] > rest["onset_step"] + 300


def test_two_causes_on_one_day_stay_two_incidents() -> None:
    """A pending row remap and a slow loader minutes later have nothing to do with each other."""
    job, story = trained()
    story += [job.event("xid", node="n1", subject="GPU-1", code=63), *job.run(60)]
    story += job.run(120, loader=0.6)
    found = sorted(incidents_of(story), key=lambda one: one["onset_time"])
    assert len(found) == 2
    assert (found[0]["cause"], found[0]["gpus"]) == ("gpu_row_remap_pending", ["GPU-1"])
    assert "GPU-1" not in found[1]["gpus"]


def test_faults_of_two_gpus_of_a_node_are_two_incidents() -> None:
    """Two GPUs fall off the bus ten minutes apart; the Xid and the kernel's text of one of them are one fault."""
    story: Story = [
        cluster_event("gpu.off_bus", 0.0, 1, "GPU-a"),
        cluster_event("xid", 600.0, 2, "GPU-b", code=79),
        cluster_event("gpu.off_bus", 602.0, 3, "GPU-b"),
    ]
    assert sorted(one["gpus"] for one in incidents_of(story)) == [["GPU-a"], ["GPU-b"]]


@pytest.mark.parametrize(
    ("apart", "code", "others", "ranks"),
    [
        (5.0, -6, -6, [6]),
        (0.1, -6, -6, []),
        (0.1, 1, 1, []),
        (0.1, -11, -6, [6]),
        (0.1, 137, 134, [6]),
        (0.1, -6, -11, []),
        (0.1, 1, -15, [6]),
        (-0.1, -11, -6, []),
    ],
)
def test_the_process_that_ends_first_is_named(apart: float, code: int, others: int, ranks: list[int]) -> None:
    """It took the others down where it ended long before them, or alone by itself; ranks that end together did not."""
    job, story = trained()
    story.append(job.event("rank.exit", node="n2", rank=6, exit_code=code))
    for rank in (0, 1, 2):
        job.time += apart
        story.append(job.event("rank.exit", node="n1", rank=rank, exit_code=others))
    story.append(job.event("attempt.ended", reason="failed"))
    [incident] = incidents_of(story)
    assert incident["ranks"] == ranks
    assert incident["cause"] == ("rank_exited" if ranks else "job_failed")


def test_ranks_that_end_early_and_well_leave_the_others_waiting() -> None:
    """Five ranks are through with their data and exit with 0, three wait for them until the watchdog speaks."""
    job, story = trained()
    for rank in (0, 2, 3, 5, 7):
        story.append(job.event("rank.exit", node=job.node_of(rank), rank=rank, exit_code=0))
    job.time += 1800.0
    story += [*timed_out(job, (1, 4, 6)), job.event("attempt.ended", reason="failed", exit_code=134)]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["ranks"], incident["nodes"]) == ("uneven_batches", [], [])
    assert "job.restart" not in {entry["action"] for entry in incident["actions"]}
