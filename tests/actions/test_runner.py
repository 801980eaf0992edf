"""The runner on a real store: once, in time, under its lease, and never against the kill switch."""

from collections.abc import Callable

import msgspec
import pytest

from playbooks.ports import NotConfigured
from schemas.action import Request
from schemas.events import BY_NAME
from schemas.incident import Incident
from tests.actions.samples import ONSET, a_detection, a_request, an_entry, an_incident
from tests.actions.world import World
from tests.fakes import FakeScheduler, FakeSinks

NewWorld = Callable[..., World]


def test_an_action_is_run_and_told(world: World) -> None:
    """The wish is written, the result is on file, and the line learns of it in the time of the records."""
    world.say(a_request())
    world.act()
    assert world.wishes() == {"loader.path": "cache"}
    result = world.result("r-loader.use_cache")
    assert (result.outcome, result.tries, result.time) == ("done", 1, world.fakes.clock.time)
    (event,) = world.events()
    assert (event.event, event.subject, event.job, event.attempt) == ("action.done", result.request, "wm-64", 1)
    assert (event.node, event.boot, event.seq, event.time) == ("act", "act", 1, an_incident().updated_time)
    assert event.data == {"action": "loader.use_cache", "id": result.request, "detail": result.detail}


@pytest.mark.parametrize("outcome", ["done", "failed", "refused", "expired"])
def test_events_keep_to_the_table(new_world: NewWorld, outcome: str) -> None:
    """Whatever the outcome, the event is one of the table, with the fields that stand there."""
    faults = [NotConfigured("no")] if outcome == "refused" else [ConnectionError("no")] * 6
    world = new_world(scheduler=FakeScheduler(*([] if outcome == "done" else faults)))
    world.say(a_request("job.stop", time=0.0 if outcome == "expired" else ONSET + 120))
    world.act()
    assert world.result("r-job.stop").outcome == outcome
    (event,) = world.events()
    assert event.event == ("action.refused" if outcome == "expired" else f"action.{outcome}")
    assert event.data.keys() >= {*BY_NAME[event.event].fields, "detail"}
    assert event.data["id"] == event.subject == "r-job.stop"


def test_sequence_numbers_never_repeat(world: World) -> None:
    """Events of the runner differ in their number, or the line would drop one as a repetition."""
    world.journal.append([("wm-64", b"{}")], 1.0)
    world.say(*(a_request("job.stop", id=f"r{n}") for n in range(5)))
    world.act()
    world.say(a_request("job.stop", id="later"))
    world.act()
    numbers = [msgspec.json.decode(entry.raw).get("seq") for entry in world.journal.read(1, 100)]
    assert len(numbers) == len(set(numbers)) == 6


def test_a_request_runs_once(world: World) -> None:
    """Said twice, looked at by a second runner, or read again from the beginning: it runs once and is told once."""
    world.say(a_request("job.stop"))
    world.say(a_request("job.stop"))
    for _ in range(3):
        world.act()
    assert len(world.fakes.scheduler.orders) == 1
    assert len(world.events()) == 1


def test_a_person_decides(world: World) -> None:
    """What is only asked is not run; the request that follows the approval is."""
    world.say(a_request("job.stop", decision="asked"))
    world.act()
    assert world.fakes.scheduler.orders == []
    assert world.archive.result("r-job.stop") is None
    world.say(a_request("job.stop", id="r-approved"))
    world.act()
    assert world.result("r-approved").outcome == "done"


def test_the_kill_switch_stops_what_acts(new_world: NewWorld) -> None:
    """With the switch on nothing acts on jobs and nodes, and nothing is made up for afterwards; people are told."""
    world = new_world(sinks=FakeSinks({"chat": "slack"}))
    world.leases.stop("night shift", 1.0)
    world.say(a_request(), a_request("job.stop"), a_request("notify"), a_request("taint.mark"))
    world.act()
    for name in ("loader.use_cache", "job.stop"):
        assert world.result(f"r-{name}").outcome == "refused"
        assert "night shift" in world.result(f"r-{name}").detail
    assert (world.wishes(), world.fakes.scheduler.orders) == ({}, [])
    assert world.fakes.sinks.to("chat") == ["opened"]
    assert len(world.fakes.ledger.lines) == 1
    world.leases.go()
    world.act()
    assert world.fakes.scheduler.orders == []
    world.say(a_request("job.stop", id="r-new"))
    world.act()
    assert world.result("r-new").outcome == "done"


MOVED_ON: dict[str, tuple[Incident, str, str]] = {
    "resolved": (an_incident(revision=3, state="resolved"), "refused", "resolved"),
    "closed": (an_incident(revision=3, state="closed"), "refused", "closed"),
    "a newer attempt": (an_incident(revision=3, attempt=2), "refused", "attempt 2"),
    "expired": (an_incident(revision=3, updated_time=ONSET + 401.0), "expired", "1 s"),
    "info": (an_incident(revision=3, severity="info"), "refused", "info"),
}


@pytest.mark.parametrize(("incident", "outcome", "words"), MOVED_ON.values(), ids=MOVED_ON)
def test_the_incident_is_read_again(world: World, incident: Incident, outcome: str, words: str) -> None:
    """A request that the incident has moved past is not run, and the result says what moved."""
    world.say(a_request("job.stop"), incident)
    world.act()
    assert world.fakes.scheduler.orders == []
    result = world.result("r-job.stop")
    assert result.outcome == outcome
    assert words in result.detail


def test_a_newer_attempt_of_the_job_counts(world: World) -> None:
    """When the job was started anew, nothing is done for the old attempt, even if the incident does not know it yet."""
    world.say(a_request("job.restart"), a_detection(id="d2", attempt=2))
    world.act()
    assert world.fakes.scheduler.orders == []
    assert "attempt 2" in world.result("r-job.restart").detail


def test_the_wall_clock_does_not_expire_requests(world: World) -> None:
    """A replay of an old run acts as it did then: only times of records are compared."""
    world.fakes.clock.time += 10 * 365 * 86400
    world.say(a_request())
    world.act()
    assert world.result("r-loader.use_cache").outcome == "done"


UNRUNNABLE: dict[str, tuple[Request, str]] = {
    "an unknown action": (a_request("node.reboot"), "node.reboot"),
    "a bad parameter": (a_request("checkpoint.defer", params={"steps": -1}), "steps"),
    "an unknown incident": (a_request(incident="nobody"), "incident"),
    "nobody to tell": (a_request("notify"), "no sink"),
    "an unknown sink": (a_request("notify", params={"sinks": ["pager"]}), "pager"),
}


@pytest.mark.parametrize(("request_", "words"), UNRUNNABLE.values(), ids=UNRUNNABLE)
def test_what_cannot_be_run_is_refused(world: World, request_: Request, words: str) -> None:
    """A request that makes no sense gets a result and an event like any other, and stops nobody else."""
    world.say(request_, a_request("job.stop"))
    world.act()
    assert world.result(request_.id).outcome == "refused"
    assert words in world.result(request_.id).detail
    assert world.result("r-job.stop").outcome == "done"
    assert len(world.events()) == 2


def test_the_reason_of_a_person_on_call(world: World) -> None:
    """A post-mortem is written from the archive alone, with the figures of its detections."""
    world.say(a_detection(), an_incident(revision=3, state="resolved", actions=(an_entry(outcome="done"),)))
    world.say(a_request("postmortem.open"))
    world.act()
    (text,) = world.fakes.documents.texts.values()
    assert "above: 5.8" in text
    assert "open → resolved" in text
