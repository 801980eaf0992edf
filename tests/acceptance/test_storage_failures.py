"""Jobs that go down because their storage refused or failed them: the trace of the program is not the cause."""

from msgspec import structs

from tests.acceptance.stories import Story, incidents_of, lived
from tests.stages.build import Job

BROKEN = (5, "EIO", "[Errno 5] Input/output error: '/corpus/part-7.tar'")
FULL = (122, "EDQUOT", "[Errno 122] Disk quota exceeded: '/saves/200.pt'")
EXPIRED = (400, "ExpiredToken", "An error occurred (400) when calling the GetObject operation: ExpiredToken")
BUSY = (503, "SlowDown", "GET part-7.tar status=503 code=SlowDown retry=2")


def refused(job: Job, rank: int, how: tuple[int, str, str], mount: str = "/corpus") -> Story:
    """A request of one rank fails."""
    job.time += 0.2
    code, reason, text = how
    event = job.event("storage.error", job.node_of(rank), mount, code=code, reason=reason, rank=rank)
    return [structs.replace(event, text=text)]


def goes_down(job: Job, ranks: list[int], error: str = "") -> Story:
    """Ranks raise what they were told, if they say anything, and the job ends."""
    story: Story = []
    for rank in ranks if error else []:
        job.time += 0.7
        told = job.event("rank.error", job.node_of(rank), rank=rank, error="OSError")
        story.append(structs.replace(told, text=error))
    for rank in ranks:
        job.time += 0.7
        story.append(job.event("rank.exit", job.node_of(rank), rank=rank, exit_code=1))
    job.time += 20.0
    return [*story, job.event("attempt.ended", reason="failed", exit_code=1)]


def ran(nodes: int = 4) -> tuple[Job, Story]:
    """A job that has trained for a while."""
    job = Job(nodes=nodes)
    return job, [job.started(), *lived(job, 60)]


def test_a_node_whose_requests_alone_fail_is_named() -> None:
    """Three ranks of one node cannot read what all others read: that node's way to the storage is broken."""
    for error in ("OSError: [Errno 5] Input/output error", ""):
        job, story = ran()
        for rank in (8, 9, 11):
            story += refused(job, rank, BROKEN)
        [incident] = incidents_of([*story, *goes_down(job, [9], error)])
        assert (incident["cause"], incident["layer"]) == ("storage_client_failed", "storage")
        assert incident["nodes"] == ["n3"]


def test_one_rank_may_have_met_a_broken_file() -> None:
    """A lone rank whose read fails says nothing of its node."""
    job, story = ran()
    story += [*refused(job, 9, BROKEN), *goes_down(job, [9], "OSError: [Errno 5] Input/output error")]
    [incident] = incidents_of(story)
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == ("storage_failed", [], [])


def test_of_two_nodes_no_majority_says_that_the_storage_is_well() -> None:
    """The other node may not have read anything since."""
    job, story = ran(nodes=2)
    for rank in (4, 5, 6):
        story += refused(job, rank, BROKEN)
    [incident] = incidents_of([*story, *goes_down(job, [5], "OSError: [Errno 5] Input/output error")])
    assert (incident["cause"], incident["nodes"]) == ("storage_failed", [])


def test_credentials_that_expire_are_nobodys_machine() -> None:
    """All ranks are refused, and all raise an error: it is told once, of the storage, and nobody is named."""
    job, story = ran()
    for rank in range(16):
        story += refused(job, rank, EXPIRED, "s3://corpus")
    [incident] = incidents_of([*story, *goes_down(job, list(range(16)), "ClientError: (400): ExpiredToken")])
    assert (incident["cause"], incident["nodes"], incident["ranks"]) == ("storage_refused", [], [])


def test_a_quota_that_is_used_up_outlives_the_restart() -> None:
    """The writer fails in a save and again in the same one: one incident, of the storage, with or without a trace."""
    for error in ("OSError: [Errno 122] Disk quota exceeded", ""):
        job, story = ran()
        for again in (True, False):
            story.append(job.event("checkpoint.begin", "n1", step=200, rank=0))
            job.time += 9.0
            story += [*refused(job, 0, FULL, "/saves"), *goes_down(job, [0], error)]
            if again:
                job = job.restarted(step=130, after=120.0)
                job.nodes = ["n1", "n2", "n3", "n4"]
                story += [job.started(), *lived(job, 40)]
        [incident] = incidents_of(story)
        assert (incident["cause"], incident["layer"], incident["nodes"]) == ("storage_refused", "storage", [])


def test_the_word_of_the_rank_is_enough() -> None:
    """No reader of the storage reported; the error that ended the rank says what it was."""
    job, story = ran()
    [incident] = incidents_of([*story, *goes_down(job, [0], "OSError: [Errno 28] No space left on device")])
    assert (incident["cause"], incident["nodes"]) == ("storage_refused", [])


def test_requests_that_are_made_again_are_not_what_a_program_fails_of() -> None:
    """A busy store was asked again; the error that ended the job speaks of something else."""
    job, story = ran()
    for rank in (3, 9):
        story += refused(job, rank, BUSY, "s3://corpus")
    [incident] = incidents_of([*story, *goes_down(job, [9], "KeyError: 'tokens'")])
    assert incident["cause"] == "program_error"


def test_requests_that_failed_long_ago_are_not_either() -> None:
    """The job trained on for minutes after them."""
    job, story = ran()
    story += [*refused(job, 9, BROKEN), *refused(job, 10, BROKEN), *lived(job, 120)]
    [incident] = incidents_of([*story, *goes_down(job, [9], "KeyError: 'tokens'")])
    assert (incident["cause"], incident["nodes"]) == ("program_error", [])


LOST, FOUND = "nfs: server store1 not responding, still trying", "nfs: server store1 OK"


def line(job: Job, node: str, text: str, after: float = 0.0) -> Story:
    """A line of a node's kernel."""
    job.time += after
    return [structs.replace(job.event("log.line", node, level="ERROR"), text=text)]


def stands(job: Job, seconds: float) -> Story:
    """No step comes, and every node is read on: its GPUs idle, its processes wait."""
    story: Story = []
    for _ in range(int(seconds / 10)):
        job.time += 10.0
        for node in job.nodes:
            ranks = [rank for rank in range(job.size) if job.node_of(rank) == node]
            cards = [f"GPU-{rank}" for rank in ranks]
            story.append(job.sample("gpu", cards, node, ranks, gpu_util=[0.0] * 4, power_watts=[95.0] * 4))
            story.append(job.sample("node", [node], node, cpu_util=[0.01], iowait=[0.3]))
    return story


def test_a_server_that_no_longer_answers_is_told_within_minutes() -> None:
    """All nodes say so and no step comes: nobody waits for the half hour that GPUs which idle are given."""
    job, story = ran()
    since = job.time
    for node in job.nodes:
        story += line(job, node, LOST, after=6.0)
    [incident] = incidents_of([*story, *stands(job, 300)])
    assert (incident["cause"], incident["nodes"], incident["onset_step"]) == ("storage_unreachable", [], 159)
    assert 60.0 < incident["opened_time"] - since < 180.0


def test_a_server_that_answers_again_is_no_incident() -> None:
    """A minute without an answer, and the job goes on; or it goes on and nobody says that all is well."""
    for back in (FOUND, ""):
        job, story = ran()
        for node in job.nodes:
            story += line(job, node, LOST, after=2.0)
        story += stands(job, 50)
        for node in job.nodes if back else []:
            story += line(job, node, back, after=0.2)
        assert incidents_of([*story, *lived(job, 150)]) == []
