"""What operators say reaches the pipeline as events, once; what makes no sense is refused with a reason."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from schemas.action import Request, Result
from schemas.codec import decode, encode
from schemas.incident import Incident
from schemas.telemetry import Event
from tests.feed.conftest import Feed
from tests.feed.worked_case import ACTIONS

Json = Any  # what JSON holds


def _events(feed: Feed) -> list[Event]:
    records = [decode(entry.raw) for entry in feed.journal.read(0, 100)]
    return [record for record in records if isinstance(record, Event)]


def test_taking_an_incident_becomes_an_event(worked_feed: Feed) -> None:
    """The event names job, attempt, incident and person, stands under the job's key, and wakes the pipeline."""
    answer = worked_feed.call("POST", "/api/v1/incidents/inc-main/acknowledge", {"by": " ann "})
    assert (answer.status, answer.json()["offset"]) == (202, 1)
    event = _events(worked_feed)[0]
    assert (event.event, event.subject, event.job, event.attempt) == ("incident.acknowledged", "inc-main", "wm-64", 1)
    assert (event.node, event.boot, event.data) == ("operator", "feed", {"by": "ann"})
    assert worked_feed.journal.read(0, 1)[0].key == "wm-64"
    assert worked_feed.woken == ["feed"]


def test_closing_an_incident_tells_why(worked_feed: Feed) -> None:
    """Cause and legitimacy travel when they were given, and only then."""
    worked_feed.call("POST", "/api/v1/incidents/inc-main/close", {"by": "ann", "cause": "unknown", "legitimate": False})
    worked_feed.call("POST", "/api/v1/incidents/inc-main/close", {"by": "ann"})
    first, second = _events(worked_feed)
    assert (first.event, first.data) == ("incident.closed", {"by": "ann", "cause": "unknown", "legitimate": False})
    assert second.data == {"by": "ann"}


def test_no_two_events_of_operators_share_a_number(worked_feed: Feed) -> None:
    """Numbers grow even after a trim of the journal, so that no event passes for a repetition."""
    for _ in range(3):
        worked_feed.call("POST", "/api/v1/incidents/inc-main/acknowledge", {"by": "ann"})
    numbers = [event.seq for event in _events(worked_feed)]
    worked_feed.journal.trim(worked_feed.journal.last())
    worked_feed.call("POST", "/api/v1/incidents/inc-main/acknowledge", {"by": "ann"})
    numbers += [event.seq for event in _events(worked_feed)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 4


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_an_answer_counts_once(worked_feed: Feed, word: str) -> None:
    """The first answer becomes an event; said again it changes nothing; the opposite is refused."""
    path = f"/api/v1/requests/req-cache/{word}"
    first, again = (worked_feed.call("POST", path, {"by": "ann"}) for _ in range(2))
    assert (first.status, first.json()["repeated"]) == (202, False)
    assert (again.status, again.json()["repeated"]) == (200, True)
    opposite = worked_feed.call(
        "POST", f"/api/v1/requests/req-cache/{'reject' if word == 'approve' else 'approve'}", {"by": "bob"}
    )
    assert opposite.status == 409
    assert "by ann" in opposite.json()["detail"]
    answered = "approved" if word == "approve" else "rejected"
    assert [(event.event, event.subject) for event in _events(worked_feed)] == [(f"request.{answered}", "req-cache")]
    view = worked_feed.call("GET", "/api/v1/requests?incident=inc-main").json()["items"][0]
    assert (view["request"]["id"], view["answer"], view["result"]) == ("req-cache", f"{answered} by ann", None)


def test_an_answer_that_comes_too_late_is_refused(worked_feed: Feed, asked: Request) -> None:
    """A request that has ended, and one that runs by itself, cannot be approved any more."""
    result = Result(
        request=asked.id,
        incident=asked.incident,
        job="wm-64",
        attempt=1,
        action=asked.action,
        outcome="expired",
        time=2.0,
    )
    worked_feed.put("results", result)
    late = worked_feed.call("POST", f"/api/v1/requests/{asked.id}/approve", {"by": "ann"})
    own = worked_feed.call("POST", "/api/v1/requests/req-defer/approve", {"by": "ann"})
    assert (late.status, own.status) == (409, 409)
    assert "expired" in late.json()["detail"]
    assert _events(worked_feed) == []


def test_a_closed_incident_cannot_be_closed_again(worked_feed: Feed, incident: Callable[..., Incident]) -> None:
    """Taking or closing what is closed is refused, so that nobody thinks it had an effect."""
    worked_feed.put("incidents", incident(revision=9, state="closed"))
    for word in ("acknowledge", "close"):
        assert worked_feed.call("POST", f"/api/v1/incidents/inc-main/{word}", {"by": "ann"}).status == 409


@pytest.mark.parametrize("said", [{"cause": "slow_gpu"}, {"legitimate": True}])
def test_the_verdict_on_a_closed_incident_can_be_corrected(
    worked_feed: Feed, incident: Callable[..., Incident], said: dict[str, Any]
) -> None:
    """Another cause travels with the incident as the person saw it: the pipeline may have forgotten it."""
    seen = incident(revision=9, state="closed")
    worked_feed.put("incidents", seen)
    answer = worked_feed.call("POST", "/api/v1/incidents/inc-main/close", {"by": "ann", **said})
    assert answer.status == 202
    (event,) = _events(worked_feed)
    assert event.data == {"by": "ann", **said, "incident": msgspec.json.decode(encode(seen))}


def test_a_cause_that_is_not_in_the_catalogue_is_refused(worked_feed: Feed) -> None:
    """A slip of the pen would be a verdict that nobody hears; the answer names what is near."""
    answer = worked_feed.call("POST", "/api/v1/incidents/inc-main/close", {"by": "ann", "cause": "slow_gpuu"})
    assert answer.status == 422
    assert [(one["field"], "slow_gpu" in one["detail"]) for one in answer.json()["errors"]] == [("body.cause", True)]
    assert _events(worked_feed) == []


BAD_CALLS = {
    "nobody signs": ("/api/v1/incidents/inc-main/acknowledge", {}, 422, "body.by"),
    "an empty name": ("/api/v1/requests/req-cache/approve", {"by": "  "}, 422, "body.by"),
    "a wrong type": (
        "/api/v1/incidents/inc-main/close",
        {"by": "ann", "legitimate": "perhaps"},
        422,
        "body.legitimate",
    ),
    "a switch without a position": ("/api/v1/killswitch", {"by": "ann"}, 422, "body.on"),
    "no such incident": ("/api/v1/incidents/inc-none/acknowledge", {"by": "ann"}, 404, ""),
    "no such request": ("/api/v1/requests/req-none/approve", {"by": "ann"}, 404, ""),
    "no such path": ("/api/v1/nothing", {"by": "ann"}, 405, ""),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_names_the_field(shared_feed: Feed, name: str) -> None:
    """Every refusal is a problem document; where a field is at fault it is named."""
    path, body, status, field = BAD_CALLS[name]
    answer = shared_feed.call("POST", path, body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    document = answer.json()
    assert document["status"] == status
    assert [error["field"] for error in document.get("errors", [])] == ([field] if field else [])


def test_the_kill_switch_turns_both_ways(feed: Feed) -> None:
    """It shows who turned it on, for the page and for the leases alike, and is off afterwards."""
    path = "/api/v1/killswitch"
    assert feed.call("GET", path).json() == {"on": False, "by": None}
    assert feed.call("POST", path, {"on": True, "by": "ann"}).json() == {"on": True, "by": "ann"}
    assert feed.leases.stopped_by() == "ann"
    assert feed.call("POST", path, {"on": False, "by": "bob"}).json() == {"on": False, "by": None}


def test_the_worked_case_has_an_open_question(shared_feed: Feed) -> None:
    """The requests of an incident are listed with the action entries that point at them."""
    listed = shared_feed.call("GET", "/api/v1/requests?incident=inc-main").json()["items"]
    assert {view["request"]["id"] for view in listed} <= {entry.request for entry in ACTIONS}
    assert shared_feed.call("GET", "/api/v1/requests").json()["items"] == listed
