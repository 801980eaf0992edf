"""The life of an incident: open, recovering, resolved or closed, and never back from the dead."""

import msgspec
import pytest
from msgspec import structs

from schemas.codec import encode
from schemas.incident import SEVERITIES, Incident
from tests.stages.course import CAUSES, Course

THROTTLED = next(cause.title for cause in CAUSES if cause.cause == "storage_errors")


def states(course: Course, one: Incident) -> list[str]:
    """The states an incident was told in, without repetitions."""
    seen: list[str] = []
    for told in course.fed.told(Incident):
        if told.id == one.id and (not seen or seen[-1] != told.state):
            seen.append(told.state)
    return seen


def open_incident() -> Course:
    """A job whose loaders have been waiting for the storage for half a minute."""
    course = Course()
    course.starvation()
    course.go(30, 1.4, loader_share=0.3)
    return course


def test_an_incident_recovers_and_is_resolved() -> None:
    """When the last finding has ended it recovers; twenty good steps and thirty seconds later it is resolved."""
    course = open_incident()
    course.end_all()
    end_step = course.step - 1
    course.go(19)
    assert course.incidents[0].state == "recovering"
    course.go(20)
    [incident] = course.incidents
    assert states(course, incident) == ["open", "recovering", "resolved"]
    assert incident.end_step == end_step
    assert incident.end_time is not None


def test_a_relapse_while_it_recovers_is_the_same_incident() -> None:
    """What comes back before twenty good steps have passed has not been away."""
    course = open_incident()
    course.end_all()
    course.go(10)
    course.starvation()
    course.go(20, 1.4)
    [incident] = course.incidents
    assert states(course, incident) == ["open", "recovering", "open"]
    assert (incident.end_step, incident.end_time) == (None, None)


def test_a_resolved_incident_never_reopens() -> None:
    """A recurrence is an incident of its own that names the one before."""
    course = open_incident()
    course.end_all()
    course.go(60)
    first = course.incidents[0]
    course.starvation()
    course.go(40, 1.4)
    again = course.incidents[1]
    assert len(course.incidents) == 2
    assert states(course, first) == ["open", "recovering", "resolved"]
    assert (again.cause, again.linked, again.state) == (first.cause, first.id, "open")
    assert first.linked == ""


def test_a_late_revision_does_not_wake_a_resolved_incident() -> None:
    """A finding that is revised after all is over stays where it is."""
    course = open_incident()
    members = [one for case in course.fed.memory.cases.values() for one in case.detections.values()]
    course.end(*members)
    course.go(60)
    course.end(*members)
    course.go(60)
    assert len(course.incidents) == 1
    assert course.incidents[0].state == "resolved"


def test_another_fault_is_not_linked() -> None:
    """An incident of another cause repeats nothing."""
    course = open_incident()
    course.end_all()
    course.go(60)
    course.slow_rank(6)
    course.go(60)
    assert [one.linked for one in course.incidents] == ["", ""]


def test_a_mount_that_stutters_on_keeps_nothing_open() -> None:
    """The job is well once it does not feel the mount any more: it may read from elsewhere."""
    course = open_incident()
    felt = [
        one for case in course.fed.memory.cases.values() for one in case.detections.values() if one.subject == "job"
    ]
    course.end(*felt)
    course.go(60)
    assert course.incidents[0].state == "resolved"


def test_a_person_takes_an_incident() -> None:
    """An acknowledgement is told with the name, and nothing else changes."""
    course = open_incident()
    [told] = course.happen("incident.acknowledged", "feed", course.incidents[0].id, by="kim")
    assert (told.acknowledged_by, told.state) == ("kim", "open")


def test_a_person_closes_an_incident() -> None:
    """The person has the last word on the cause, and what is still found later opens a new one."""
    course = open_incident()
    last = course.step - 1
    [told] = course.happen(
        "incident.closed", "feed", course.incidents[0].id, by="kim", cause="loader_starved_by_host_cpu"
    )
    assert (told.state, told.cause, told.layer, told.confidence) == (
        "closed",
        "loader_starved_by_host_cpu",
        "host",
        1.0,
    )
    assert (told.acknowledged_by, told.end_step) == ("kim", last)
    course.starvation(ago=2)
    course.go(40, 1.4)
    assert [one.state for one in course.incidents] == ["closed", "open"]


def test_a_person_closes_an_incident_as_legitimate() -> None:
    """A legitimate change has no layer, and its severity neither pages nor acts."""
    course = open_incident()
    [told] = course.happen("incident.closed", "feed", course.incidents[0].id, by="kim", legitimate=True)
    assert (told.state, told.layer, told.severity) == ("closed", "none", "info")


@pytest.mark.parametrize(
    ("event", "data"),
    [
        pytest.param("incident.closed", {}, id="by nobody"),
        pytest.param("incident.closed", {"by": None, "cause": ["x"], "legitimate": "no"}, id="odd data"),
        pytest.param("incident.closed", {"cause": "no_such_cause"}, id="a cause that there is not"),
        pytest.param("incident.acknowledged", {"by": 7}, id="a number for a name"),
    ],
)
def test_an_odd_word_of_a_person_is_taken_as_far_as_it_goes(event: str, data: dict[str, object]) -> None:
    """What makes no sense is left out; the word itself counts."""
    course = open_incident()
    [told] = course.happen(event, "feed", course.incidents[0].id, **data)
    assert told.acknowledged_by != ""
    assert told.cause == "loader_starved_by_storage"


def test_a_word_about_another_incident_changes_nothing() -> None:
    """An incident that is not there cannot be closed."""
    course = open_incident()
    assert course.happen("incident.closed", "feed", "no-such-id", by="kim") == []


def test_an_incident_of_events_ends_when_the_job_trains_on() -> None:
    """After an Xid the next attempt runs well for twenty steps: the incident is over."""
    course = Course()
    course.happen("xid", "n2", "GPU-6", code=79)
    course.go(15)
    assert course.incidents[0].state == "open"
    course.happen("attempt.ended", reason="failed")
    course.time += 120.0
    course.attempt = 2
    course.start()
    course.go(40)
    [incident] = course.incidents
    assert incident.state == "resolved"
    assert incident.end_time is not None
    assert incident.end_time < course.time - 100


def test_a_fault_that_repeats_itself_stays_open() -> None:
    """As long as events of the same kind keep coming, the incident is not over."""
    course = Course()
    for _ in range(12):
        course.happen("xid", "n2", "GPU-6", code=48)
        course.go(15)
    [incident] = course.incidents
    assert incident.state == "open"
    course.go(60)
    assert course.incidents[0].state == "resolved"


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        pytest.param("finished", "resolved", id="the job has finished"),
        pytest.param("requeued", "resolved", id="the job was requeued"),
        pytest.param("failed", "recovering", id="the job has died of it"),
        pytest.param(["odd"], "recovering", id="for a reason that is none"),
    ],
)
def test_the_end_of_the_attempt(reason: object, wanted: str) -> None:
    """What was wrong is over with an orderly end; of a job that died nobody knows before its next attempt."""
    course = open_incident()
    course.happen("attempt.ended", reason=reason)
    course.end_all()
    course.fed.flush()
    assert course.incidents[0].state == wanted


def test_a_fault_that_survives_a_restart_stays_one_incident() -> None:
    """When the next attempt is as slow as the one that died, it is the same incident, of the new attempt."""
    course = open_incident()
    course.happen("attempt.ended", reason="failed")
    course.end_all()
    course.time, course.attempt = course.time + 60.0, 2
    course.start()
    course.go(12, 1.4)
    course.starvation()
    course.go(30, 1.4)
    [incident] = course.incidents
    assert (incident.attempt, incident.state) == (2, "open")


def test_severity_never_falls() -> None:
    """An incident does not become harmless by being cured."""
    course = open_incident()
    course.end_all()
    course.go(100)
    told = [SEVERITIES.index(one.severity) for one in course.fed.told(Incident)]
    assert told == sorted(told)


def test_a_case_is_forgotten_after_a_day() -> None:
    """Memory does not grow with every incident there ever was."""
    course = open_incident()
    course.end_all()
    course.go(60)
    course.go(3, seconds=40_000.0)
    assert course.fed.memory.cases == {}


def test_a_person_corrects_a_verdict() -> None:
    """Whoever closes an incident once more has the last word again."""
    course = open_incident()
    close = ("incident.closed", "feed", course.incidents[0].id)
    course.happen(*close, by="kim", legitimate=True)
    [told] = course.happen(*close, by="lee", cause="loader_starved_by_host_cpu")
    assert (told.state, told.cause, told.layer) == ("closed", "loader_starved_by_host_cpu", "host")
    assert told.acknowledged_by == "kim"


def test_a_word_on_a_forgotten_incident_counts() -> None:
    """Weeks later the incident comes along with what is said of it, and becomes its next revision."""
    course = open_incident()
    seen = structs.replace(course.incidents[0], revision=7, state="resolved")
    fresh = Course()
    brought = msgspec.json.decode(encode(structs.replace(seen, cause="storage_errors", title=f"{THROTTLED}: +40 %")))
    [told] = fresh.happen("incident.closed", "feed", seen.id, by="kim", cause="slow_gpu", incident=brought)
    assert (told.id, told.revision, told.state, told.cause, told.layer) == (seen.id, 8, "closed", "slow_gpu", "gpu")
    assert (told.confidence, told.acknowledged_by) == (1.0, "kim")
    assert told.title.endswith(": +40 %")
    assert not told.title.startswith(THROTTLED)
    assert told.evidence == seen.evidence
    [taken] = fresh.happen("incident.acknowledged", "feed", seen.id, by="lee", incident=brought)
    assert (taken.state, taken.acknowledged_by, taken.cause) == ("resolved", "lee", "storage_errors")


@pytest.mark.parametrize("brought", [None, 3, {}, {"id": "another", "job": "toy"}])
def test_a_word_on_an_incident_that_nobody_knows_changes_nothing(brought: object) -> None:
    """Without the incident, with another one, or with something else there is nothing to tell."""
    course = Course()
    assert course.happen("incident.closed", "feed", "inc-1", by="kim", incident=brought) == []


def test_a_word_on_the_incident_of_another_job_changes_nothing() -> None:
    """What an event brings along must be the incident it speaks of, of the job under whose key it comes."""
    seen = structs.replace(open_incident().incidents[0], job="other", revision=7)
    told = Course().happen("incident.closed", "feed", seen.id, by="kim", incident=msgspec.json.decode(encode(seen)))
    assert told == []
