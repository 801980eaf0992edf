"""What several jobs of a cluster have in common is one incident of the cluster, linked to theirs."""

import json
from typing import Any

from msgspec import structs

from schemas.codec import decode, encode
from schemas.telemetry import Reading
from streams.line import LineMemory
from tests.acceptance.replaying import shipped_line
from tests.acceptance.stories import Story, cluster_event, incidents_of
from tests.stages.build import START, Job


def of_job(story: Story, job: str) -> Story:
    """The same story as that of another job, in cluster c1."""
    told: Story = []
    for record in story:
        fields: dict[str, Any] = {name: getattr(record, name) for name in record.__struct_fields__}  # Any: any field
        told.append(type(record)(**{**fields, "job": job, "cluster": "c1"}))
    return told


def starved(name: str, late: float = 0.0, mount: str = "/data") -> Story:
    """A job that waits for its storage from step 180 on."""
    job = Job(time=START + late)
    story: Story = [job.started()]
    for number in range(60):
        ill = number >= 30
        story += job.run(5, loader=0.6 if ill else 0.03)
        for node in job.nodes:
            retries: list[Reading] = [50.0 * max(0, number - 29)]
            latency: list[Reading] = [0.05 if ill else 0.004]
            story.append(
                job.sample("mount", [mount], node, storage_retries_total=retries, storage_latency_seconds=latency)
            )
    return of_job(story, name)


def together(*stories: Story) -> Story:
    """Several stories at once."""
    return sorted((record for story in stories for record in story), key=lambda record: record.time)


def test_one_mount_behind_two_jobs_is_one_incident_of_the_cluster() -> None:
    """The cluster names the mount, and the incidents of the jobs are linked to it."""
    found = incidents_of(together(starved("a"), starved("b", 20.0)))
    shared = [one for one in found if one["job"] == "c1"]
    assert [(one["cause"], one["suspects"][0]["id"]) for one in shared] == [("shared_storage_fault", "/data")]
    jobs = {one["job"]: one for one in found if one["job"] != "c1"}
    assert {job: one["linked"] for job, one in jobs.items()} == {"a": shared[0]["id"], "b": shared[0]["id"]}
    assert {one["cause"] for one in jobs.values()} == {"loader_starved_by_storage"}


def test_two_mounts_are_two_stories() -> None:
    """Jobs that wait for different mounts at the same time share nothing."""
    found = incidents_of(together(starved("a"), starved("b", 20.0, mount="/other")))
    assert {one["job"] for one in found} == {"a", "b"}
    assert {one["linked"] for one in found} == {""}


def test_one_job_alone_is_no_matter_of_the_cluster() -> None:
    """A single job's incident stays its own."""
    assert {one["job"] for one in incidents_of(starved("a"))} == {"a"}


def test_a_node_that_is_blamed_for_the_third_time_is_told() -> None:
    """Three jobs, three days, three ranks: the node is the same, and the cluster says so once."""
    stories: Story = []
    for number, rank in enumerate((4, 6, 7)):
        job = Job(time=START + 86400.0 * number, seed=number)
        story: Story = [job.started(), *job.run(80), *job.run(120, slow={rank: 1.4})]
        stories += of_job([*story, job.event("attempt.ended", reason="finished")], f"job-{number}")
    told = [one for one in incidents_of(stories) if one["job"] == "c1"]
    assert [(one["cause"], one["nodes"]) for one in told] == [("repeat_offender_node", ["n2"])]


def test_reports_that_come_twice_change_nothing() -> None:
    """The log may bring a report again after a crash: the incidents are the same, and none is doubled."""
    assert final(twice=True) == final(twice=False)


def final(twice: bool) -> dict[str, Any]:  # Any: plain data
    """The last revision of every incident, with every report brought once or twice."""
    line = shipped_line()
    memories: dict[str, LineMemory] = {}
    last: dict[str, Any] = {}
    waiting = [encode(record) for record in together(starved("a"), starved("b", 20.0))]
    while waiting:
        record = decode(waiting.pop(0))
        assert hasattr(record, "job")
        memory = memories.setdefault(record.job, line.blank(record.job))
        for sent in line.feed(memory, record):
            if sent.topic == "telemetry":
                waiting = [encode(sent.record)] * (1 + twice) + waiting
            elif sent.topic == "incidents":
                last[sent.key] = json.loads(encode(sent.record))
    return last


def test_an_earlier_attempt_is_told_with_the_machines_it_ran_on() -> None:
    """A rank that failed is named with its node and GPU of then, although it has been placed elsewhere since."""
    job = Job()
    story: Story = [job.started(), *job.run(80), job.event("xid", node="n2", subject="GPU-6", code=79)]
    story += [job.event("rank.exit", node="n2", rank=6, exit_code=-6), job.event("attempt.ended", reason="failed")]
    again = job.restarted(step=150, after=3.0)
    moved = [{"rank": rank, "node": f"n{2 - rank // 4}", "gpu": f"GPU-{(rank + 4) % 8}"} for rank in range(8)]
    story += [again.started(placement=moved), *again.run(60)]
    [incident] = incidents_of(story)
    assert (incident["ranks"], incident["nodes"], incident["gpus"]) == ([6], ["n2"], ["GPU-6"])


def test_a_rank_that_exits_is_told_with_the_node_it_ran_on() -> None:
    """The same where nothing but the rank is known."""
    job = Job()
    story: Story = [job.started(), *job.run(80), job.event("rank.exit", node="n2", rank=6, exit_code=-6)]
    story += [job.event("attempt.ended", reason="failed")]
    again = job.restarted(step=150, after=12.0)
    moved = [{"rank": rank, "node": f"n{2 - rank // 4}", "gpu": f"GPU-{(rank + 4) % 8}"} for rank in range(8)]
    story += [again.started(placement=moved), *again.run(60)]
    [incident] = incidents_of(story)
    assert (incident["ranks"], incident["nodes"], incident["gpus"]) == ([6], ["n2"], ["GPU-6"])


def test_a_cluster_that_only_sends_log_lines_dates_what_it_decides() -> None:
    """Where no frame moves the clock, an action has the time of what it is about."""
    [lost] = incidents_of([cluster_event("xid", 0, 0, subject="GPU-6c0ffee1", code=79)])
    assert lost["actions"]
    assert {one["time"] for one in lost["actions"]} == {lost["opened_time"]} == {START}


def test_a_fault_of_a_node_that_was_repaired_since_moves_nothing() -> None:
    """A log that is sent again days later, after the node was started anew and released, is history."""
    history = cluster_event("xid", 0, 3, subject="GPU-6c0ffee1", code=79)
    anew = [cluster_event("node.boot", 900, 1, subject="scheduler")]
    anew += [cluster_event("node.uncordoned", 1800, 2, subject="scheduler")]
    assert incidents_of([*anew, history]) == []


def test_idle_nodes_that_a_job_takes_are_not_missed_by_their_cluster() -> None:
    """The job names no cluster: it is found by its GPUs, and tells it which nodes it has."""
    job = Job(4)
    placement = [{"rank": rank, "node": job.node_of(rank), "gpu": f"GPU-00c0ffee{rank}"} for rank in range(job.size)]
    story: Story = []
    for second in range(0, 900, 10):
        for node in [*job.nodes, "n9"] if second < 200 else ["n9"]:
            gpus = [place["gpu"] for place in placement if place["node"] == node] or ["GPU-00c0ffee99"]
            idle = job.sample("gpu", [str(gpu) for gpu in gpus], node, gpu_util=[0.0] * len(gpus))
            story.append(structs.replace(idle, job="c1", cluster="c1", attempt=0, time=START + second))
    job.time += 200
    trained: Story = [job.started(placement=placement), *job.run(600)]
    assert incidents_of(sorted([*story, *trained], key=lambda one: one.time)) == []
