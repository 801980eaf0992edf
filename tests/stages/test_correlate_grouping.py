"""Which findings become one incident, and which do not."""

import pytest

from schemas.incident import Incident
from tests.stages.course import Course


def causes(course: Course) -> list[str]:
    """The leading cause of every incident."""
    return sorted(one.cause for one in course.incidents)


def test_a_healthy_job_has_no_incident() -> None:
    """Vitals and events without a finding tell nothing."""
    course = Course()
    course.happen("phase.begin", phase="eval")
    course.go(100)
    assert course.incidents == []


def test_a_finding_waits_for_others() -> None:
    """Nothing is told before the hold has passed, and the first word has all symptoms that came meanwhile."""
    course = Course()
    course.starvation()
    assert course.go(9) == []
    told = course.go(3)
    assert [(one.cause, len(one.detections)) for one in told] == [("loader_starved_by_storage", 5)]
    assert told[0].opened_time == course.time - 12


def test_what_nothing_explains_waits_twice_as_long() -> None:
    """A slow-down alone is held back once more, since its evidence may be on the way, and is then told as unknown."""
    course = Course()
    course.slowdown()
    assert course.go(19) == []
    course.go(10)
    assert causes(course) == ["unknown"]


def test_five_symptoms_of_one_cause_are_one_incident() -> None:
    """Symptoms that come one after the other join the incident that explains them."""
    course = Course()
    course.find("level_shift", "loader_share")
    course.go(30)
    course.find("level_shift", "storage_retries_total", subject="mount:/data")
    course.go(30)
    course.find("level_shift", "storage_latency_seconds", subject="mount:/data")
    course.slowdown()
    course.go(60)
    [incident] = course.incidents
    assert incident.cause == "loader_starved_by_storage"
    assert len(incident.detections) == 5
    assert [(one.kind, one.id) for one in incident.suspects] == [("mount", "/data")]
    assert incident.onset_step == 152
    assert (incident.ranks, incident.nodes) == ((), ())


@pytest.mark.parametrize(("apart", "wanted"), [(20, 1), (40, 1), (120, 2)])
def test_a_cause_does_not_come_after_what_it_does(apart: int, wanted: int) -> None:
    """A job that had been slow for long when its loader began to wait was slow for another reason."""
    course = Course()
    course.slowdown(ago=8)
    course.go(apart - 8, 1.4)
    course.find("level_shift", "loader_share", ago=0, before=0.03, after=0.5)
    course.find("level_shift", "storage_retries_total", ago=0, subject="mount:/data")
    course.go(20, 2.0, loader_share=0.5)
    assert len(course.incidents) == wanted
    assert course.incidents[-1].cause == "loader_starved_by_storage"
    assert course.incidents[-1].onset_step == (152 if wanted == 1 else 152 + apart)


@pytest.mark.parametrize(("signal", "joins"), [("step_seconds", True), ("loader_share", False)])
def test_a_quiet_incident_takes_up_more_of_the_same(signal: str, joins: bool) -> None:
    """What has passed and comes back is one story; something new that begins soon after it is another."""
    course = Course()
    found = course.slowdown()
    course.go(24, 1.4)
    course.end(*found)
    course.go(5)
    course.find("level_shift", signal, ago=0, name="again", before=0.03, after=0.5)
    course.go(30)
    assert any("again" in one for one in course.incidents[0].detections) == joins


def test_a_sign_of_before_joins_the_incident_it_explains() -> None:
    """A mount that began to stutter ten minutes earlier, and was no incident by itself, belongs to it."""
    course = Course()
    course.find("level_shift", "storage_latency_seconds", subject="mount:/data")
    course.go(600)
    assert course.incidents == []
    course.find("level_shift", "loader_share")
    course.go(60)
    [incident] = course.incidents
    assert len(incident.detections) == 2
    assert incident.onset_step == 152


def test_a_sign_that_explains_nothing_is_forgotten() -> None:
    """Half an hour after it ended, a sign joins nothing any more."""
    course = Course()
    course.end(course.find("level_shift", "storage_latency_seconds", subject="mount:/data"))
    course.go(1900)
    course.find("level_shift", "loader_share")
    course.go(60)
    assert [len(one.detections) for one in course.incidents] == [1]


def test_two_unrelated_faults_at_one_moment_are_two_incidents() -> None:
    """Nearness in time merges nothing: a NaN and a slow rank have no cause in common."""
    course = Course()
    course.find("nonfinite", "loss", "none", part="nan")
    course.slow_rank(6)
    course.slowdown()
    course.go(60)
    assert causes(course) == ["numeric_blow_up", "slow_gpu"]
    blowup, slow = sorted(course.incidents, key=lambda one: one.cause)
    assert (blowup.ranks, slow.ranks) == ((), (6,))
    assert len(slow.detections) == 3


def test_alike_slow_ranks_of_one_node_are_its_nodes_trouble() -> None:
    """All four ranks of a node are slow: one incident that blames the node."""
    course = Course()
    for rank in range(4, 8):
        course.slow_rank(rank)
        course.go(2)
    course.go(60)
    [incident] = course.incidents
    assert (incident.cause, incident.nodes) == ("slow_node", ("n2",))
    assert incident.ranks == (4, 5, 6, 7)
    assert incident.affected.ranks == (0, 1, 2, 3)


def test_ranks_that_are_found_together_are_blamed_together() -> None:
    """The first word on a slowdown that is due already does not blame the first of four ranks of one row."""
    course = Course()
    course.slowdown()
    course.go(15)
    before = len(course.fed.said)
    for rank in range(4, 8):
        course.slow_rank(rank, ago=20)
    assert len(course.fed.said) == before
    assert [(one.cause, one.ranks) for one in course.go(1)] == [("slow_node", (4, 5, 6, 7))]


def test_one_slow_rank_of_a_node_is_its_gpus_trouble() -> None:
    """A rank alone is blamed with its node and GPU, and its node's other ranks are victims."""
    course = Course()
    course.slow_rank(6)
    course.go(60)
    [incident] = course.incidents
    assert (incident.cause, incident.ranks, incident.nodes, incident.gpus) == ("slow_gpu", (6,), ("n2",), ("GPU-6",))
    assert 5 in incident.affected.ranks
    assert incident.affected.nodes == ("n1",)


@pytest.mark.parametrize(
    ("apart", "wanted"),
    [pytest.param(20, 1, id="began together"), pytest.param(300, 2, id="began five minutes apart")],
)
def test_slow_ranks_of_two_nodes(apart: int, wanted: int) -> None:
    """Culprits on different nodes are one story only where they began together."""
    course = Course()
    course.slow_rank(1)
    course.go(apart)
    course.slow_rank(6)
    course.go(60)
    assert len(course.incidents) == wanted


def test_teardown_is_not_another_incident() -> None:
    """What follows a dead GPU when the job goes down is told as its consequence."""
    course = Course()
    course.happen("xid", "n2", "GPU-6", code=79)
    for rank in range(8):
        course.happen("rank.exit", "launcher", rank=rank, exit_code=1)
    course.happen("nccl.timeout", "n1", rank=0)
    course.go(40)
    [incident] = course.incidents
    assert (incident.cause, incident.severity, incident.gpus) == ("gpu_failed", "critical", ("GPU-6",))


def test_an_xid_without_a_gpu_blames_its_node() -> None:
    """Where the log does not say which GPU it was, the node stands in for it, and no GPU is made up."""
    course = Course()
    course.happen("xid", "n2", code=79)
    course.go(40)
    [incident] = course.incidents
    assert (incident.cause, incident.nodes, incident.gpus) == (
        "gpu_failed",
        ("n2",),
        ("GPU-4", "GPU-5", "GPU-6", "GPU-7"),
    )
    assert [(one.kind, one.id) for one in incident.suspects] == [("node", "n2")]


def test_a_log_collector_is_no_culprit() -> None:
    """An Xid that a collector passes on without saying whose it was blames nobody."""
    course = Course()
    course.happen("xid", "collector", code=79)
    course.go(40)
    [incident] = course.incidents
    assert (incident.nodes, incident.gpus, incident.suspects) == ((), (), ())


@pytest.mark.parametrize("code", [[79], {"code": 79}, "79", None, 79.5, 1 << 60])
def test_an_xid_code_that_is_no_code_is_no_fault(code: object) -> None:
    """Odd codes select no clue."""
    course = Course()
    course.happen("xid", "n2", "GPU-6", code=code)
    course.go(40)
    assert course.incidents == []


@pytest.mark.parametrize("name", ["rank.exit", "oom.kill", "xid"])
def test_a_flood_of_events_is_folded(name: str) -> None:
    """A thousand events of one name make one incident and a bounded memory."""
    course = Course()
    course.happen("xid", "n2", "GPU-6", code=79)
    for rank in range(1000):
        course.happen(name, f"n{rank % 2 + 1}", "", rank=rank, code=79)
    course.go(60)
    assert len(course.fed.memory.waiting_events) <= 64
    assert all(len(case.events) <= 64 for case in course.fed.memory.cases.values())
    assert len(course.incidents) <= 2


def test_the_seed_is_explained() -> None:
    """However much speaks for another cause, the one that leads explains what the incident was opened for."""
    course = Course()
    course.find("nonfinite", "loss", "none", part="nan")
    course.go(30)
    course.starvation()
    course.go(60)
    assert causes(course) == ["loader_starved_by_storage", "numeric_blow_up"]


def test_the_order_of_arrival_does_not_matter() -> None:
    """The same symptoms in the opposite order make an incident of the same cause, culprits and onset."""
    told: list[Incident] = []
    for turned in (False, True):
        course = Course()
        signs = ["loader_share", "storage_retries_total", "storage_latency_seconds", "step_seconds"]
        for signal in reversed(signs) if turned else signs:
            course.find("level_shift", signal, subject="mount:/data" if signal.startswith("storage") else "job")
        course.go(60)
        told += course.incidents
    first, second = told
    assert first.cause == second.cause
    assert first.onset_step == second.onset_step
    assert [one.id for one in first.suspects] == [one.id for one in second.suspects]
