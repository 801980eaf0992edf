"""What each action does to the world, and how it classifies what it meets."""

import asyncio
from typing import Any

import pytest

from playbooks.actions.catalogue import ACTIONS, params_of
from playbooks.ports import NotAllowed, NotConfigured, Unsettled
from playbooks.retry import Ending, Finished, Refused, Retry
from schemas.action import Request
from schemas.incident import Incident, Suspect
from tests.actions.samples import a_request, an_incident
from tests.fakes import FakeDocuments, FakePorts, FakeRecords, FakeScheduler, FakeSinks, FakeTrainer, fake_ports


def run(request: Request, fakes: FakePorts) -> Ending:
    """Try an action once, with the parameters of its request."""
    action = ACTIONS[request.action]
    return asyncio.run(action.run(request, params_of(request.action, request.params), fakes.ports()))


def blaming(**changed: Any) -> FakePorts:  # Any: any field of an incident
    """Ports that know the incident, changed."""
    return fake_ports(records=FakeRecords(an_incident(**changed)))


WISHES: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "cache by default": ("loader.use_cache", {}, {"loader.path": "cache"}),
    "another path": ("loader.use_cache", {"path": "replica"}, {"loader.path": "replica"}),
    "defer counts from the step of the request": (
        "checkpoint.defer",
        {"steps": 310},
        {"checkpoint.defer_until_step": 18600},
    ),
    "async": ("checkpoint.make_async", {}, {"checkpoint.mode": "async"}),
    "now is the id of the request": ("checkpoint.now", {}, {"checkpoint.now": "r-checkpoint.now"}),
}


@pytest.mark.parametrize(("name", "params", "wished"), WISHES.values(), ids=WISHES)
def test_a_wish_is_written_down(name: str, params: dict[str, object], wished: dict[str, object]) -> None:
    """An action on the trainer writes its setting, under the request's id, and nothing else."""
    fakes = fake_ports()
    assert isinstance(run(a_request(name, params=params), fakes), Finished)
    assert fakes.trainer.wishes("wm-64") == wished
    assert {one.request for one in fakes.trainer.controls["wm-64"].settings.values()} == {f"r-{name}"}


@pytest.mark.parametrize(
    ("first", "undo"),
    [(name, action.undo) for name, action in ACTIONS.items() if action.undo and name != "loader.restore"],
)
def test_undoing_gives_the_trainer_its_own_way_back(first: str, undo: str) -> None:
    """After the undoing action nothing of the wish is left."""
    fakes = fake_ports()
    run(a_request(first), fakes)
    assert fakes.trainer.wishes("wm-64")
    assert isinstance(run(a_request(undo), fakes), Finished)
    assert fakes.trainer.wishes("wm-64") == {}


@pytest.mark.parametrize("name", ["loader.use_cache", "loader.restore", "checkpoint.restore", "checkpoint.now"])
def test_a_wish_to_an_old_attempt_is_refused(name: str) -> None:
    """When the control document speaks to a newer attempt, the action is refused and not retried."""
    fakes = fake_ports(trainer=FakeTrainer(NotAllowed("attempt 1 is over")))
    assert run(a_request(name), fakes) == Refused("attempt 1 is over")


def test_deferring_needs_a_step() -> None:
    """Without a step to count from nothing is deferred."""
    fakes = fake_ports()
    assert isinstance(run(a_request("checkpoint.defer", step=None), fakes), Refused)
    assert fakes.trainer.wishes("wm-64") == {}


def test_the_range_goes_into_the_ledger_once() -> None:
    """Marking the same range again adds no line; a range that grew is another line."""
    fakes = blaming()
    run(a_request("taint.mark"), fakes)
    run(a_request("taint.mark", id="another"), fakes)
    (line,) = fakes.ledger.lines.values()
    assert (line.from_step, line.to_step, line.checkpoints) == (18046, 18600, (18300, 18600))
    assert (line.incident, line.confidence, line.time) == ("50409911ed6b7da0", 0.82, an_incident().updated_time)
    taint = an_incident().taint
    assert taint is not None
    fakes.records.all = [an_incident(taint=type(taint)(from_step=18046, to_step=18700))]
    run(a_request("taint.mark"), fakes)
    assert len(fakes.ledger.lines) == 2


@pytest.mark.parametrize("records", [FakeRecords(), FakeRecords(an_incident(taint=None))], ids=["gone", "no range"])
def test_nothing_to_mark_is_refused(records: FakeRecords) -> None:
    """An incident without contaminated steps leaves the ledger alone."""
    fakes = fake_ports(records=records)
    assert isinstance(run(a_request("taint.mark"), fakes), Refused)
    assert fakes.ledger.lines == {}


BLAME: dict[str, tuple[dict[str, object], str, bool]] = {
    "culprit": ({"nodes": ("n03",)}, "n03", True),
    "with its kind before it": ({"nodes": ("n03",)}, "node:n03", True),
    "suspect": ({"suspects": (Suspect(kind="node", id="n03", score=0.6),)}, "n03", True),
    "a rank of that name": ({"suspects": (Suspect(kind="rank", id="n03", score=0.6),)}, "n03", False),
    "victim": ({}, "n03", False),
    "somebody else": ({"nodes": ("n04",)}, "n03", False),
}


@pytest.mark.parametrize(("incident", "target", "cordoned"), BLAME.values(), ids=BLAME)
def test_only_a_blamed_node_is_cordoned(incident: dict[str, object], target: str, cordoned: bool) -> None:
    """A node that the present view of the incident does not blame stays in service."""
    fakes = blaming(**incident)
    ending = run(a_request("node.cordon", target=target), fakes)
    assert isinstance(ending, Finished) == cordoned
    assert [order[:2] for order in fakes.scheduler.orders] == ([("cordon", "n03")] if cordoned else [])


ANSWERS: dict[str, tuple[Exception, type, type]] = {
    "no way out": (NotConfigured("no command for this"), Refused, Refused),
    "a name it will not pass on": (NotAllowed("'ALL' is not passed on"), Refused, Refused),
    "it said no": (ConnectionError("ended with 1: no controller"), Retry, Retry),
    "no answer": (Unsettled("did not end within 30 s"), Retry, Refused),
}


@pytest.mark.parametrize(("fault", "harmless_twice", "restart"), ANSWERS.values(), ids=ANSWERS)
def test_answers_of_the_scheduler_are_classified(fault: Exception, harmless_twice: type, restart: type) -> None:
    """A restart whose fate is unknown is left to a person; what is harmless twice is tried again."""
    for name, wanted in (("node.cordon", harmless_twice), ("job.stop", harmless_twice), ("job.restart", restart)):
        fakes = fake_ports(records=FakeRecords(an_incident(nodes=("wm-64",))), scheduler=FakeScheduler(fault))
        assert isinstance(run(a_request(name), fakes), wanted), name
        assert len(fakes.scheduler.orders) == 1


def test_the_scheduler_is_told_why() -> None:
    """The reason names incident and request, so that an operator finds the way back."""
    fakes = fake_ports()
    assert isinstance(run(a_request("job.stop"), fakes), Finished)
    ((_, job, reason),) = fakes.scheduler.orders
    assert job == "wm-64"
    assert "50409911ed6b7da0" in reason
    assert "r-job.stop" in reason


TELLING: dict[str, tuple[dict[str, object], str, bool]] = {
    "new": ({}, "", True),
    "new, said so": ({}, "opened", True),
    "worse": ({}, "changed", True),
    "over": ({"state": "resolved"}, "resolved", True),
    "over, read off": ({"state": "closed"}, "", True),
    "opened, but over by now": ({"state": "resolved"}, "opened", False),
    "resolved, but still open": ({}, "resolved", False),
    "info": ({"severity": "info"}, "opened", False),
}


@pytest.mark.parametrize(("incident", "kind", "told"), TELLING.values(), ids=TELLING)
def test_people_are_told_what_is_true_now(incident: dict[str, object], kind: str, told: bool) -> None:
    """A message that no longer fits the incident is not sent, and info pages nobody."""
    fakes = fake_ports(records=FakeRecords(an_incident(**incident)), sinks=FakeSinks({"chat": "slack"}))
    ending = run(a_request("notify", params={"sinks": ["chat"], "kind": kind}), fakes)
    assert isinstance(ending, Finished) == told
    assert len(fakes.sinks.told) == told


def test_an_unknown_sink_is_refused() -> None:
    """A playbook that names a sink which is not configured gets a refusal with that name."""
    ending = run(a_request("notify", params={"sinks": ["pager"]}), blaming())
    assert isinstance(ending, Refused)
    assert "pager" in ending.reason


@pytest.mark.parametrize("answer", [Retry("HTTP 503", 7.0), Refused("HTTP 400")])
@pytest.mark.parametrize("name", ["notify", "webhook"])
def test_the_word_of_a_sink_is_passed_on(name: str, answer: Retry | Refused) -> None:
    """What the sink made of the answer is what the action says."""
    sinks = FakeSinks({"hook": "webhook"}, {"hook": [answer]})
    params = {"sinks": ["hook"]} if name == "notify" else {"sink": "hook"}
    fakes = fake_ports(records=FakeRecords(an_incident()), sinks=sinks)
    assert run(a_request(name, params=params), fakes) == answer


def test_a_webhook_carries_the_request() -> None:
    """A remediation system receives what it is asked to do, and for which incident."""
    fakes = fake_ports(records=FakeRecords(an_incident()), sinks=FakeSinks({"hook": "webhook"}))
    request = a_request("webhook", params={"sink": "hook"})
    assert isinstance(run(request, fakes), Finished)
    (told,) = fakes.sinks.told
    assert (told.request, told.incident.id) == (request, request.incident)


def test_a_webhook_is_no_pager() -> None:
    """An order never goes to a sink of another kind."""
    fakes = fake_ports(records=FakeRecords(an_incident()), sinks=FakeSinks({"hook": "pagerduty"}))
    assert isinstance(run(a_request("webhook", params={"sink": "hook"}), fakes), Refused)
    assert fakes.sinks.told == []


def test_a_full_disk_is_tried_again() -> None:
    """A document that could not be written is tried again, and the reason names no path."""
    fakes = fake_ports(
        records=FakeRecords(an_incident()), documents=FakeDocuments(OSError(28, "No space left on device", "/secret"))
    )
    ending = run(a_request("postmortem.open"), fakes)
    assert ending == Retry("the document could not be written: No space left on device")


def test_a_postmortem_is_one_document_for_each_incident() -> None:
    """Opening it again writes the same document anew."""
    fakes = blaming()
    run(a_request("postmortem.open"), fakes)
    run(a_request("postmortem.open", id="another"), fakes)
    assert list(fakes.documents.texts) == ["postmortem-50409911ed6b7da0.md"]


@pytest.mark.parametrize("name", ["postmortem.open", "webhook", "notify", "node.cordon"])
def test_an_unknown_incident_is_refused(name: str) -> None:
    """Nothing is done for an incident that nobody knows."""
    sinks = FakeSinks({"webhook": "webhook"})
    params = {"sinks": ["webhook"]} if name == "notify" else {}
    assert isinstance(run(a_request(name, params=params), fake_ports(sinks=sinks)), Refused)
    assert sinks.told == []


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_a_repeated_try_changes_nothing_more(name: str) -> None:
    """Wishes, ledger and documents are the same after two tries as after one; one that was cut off can be repeated."""
    incident: Incident = an_incident(nodes=("wm-64",))
    fakes = fake_ports(records=FakeRecords(incident), sinks=FakeSinks({"webhook": "webhook"}))
    request = a_request(name, params={"sinks": ["webhook"]} if name == "notify" else {})
    run(request, fakes)
    once = (fakes.trainer.wishes("wm-64"), dict(fakes.ledger.lines), dict(fakes.documents.texts))
    assert isinstance(run(request, fakes), Finished)
    assert (fakes.trainer.wishes("wm-64"), fakes.ledger.lines, fakes.documents.texts) == once
