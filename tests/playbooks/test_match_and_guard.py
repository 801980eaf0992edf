"""Whether a playbook applies, whether it may act, and with which reason it may not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playbooks.cause import CauseLayer
from playbooks.decide import approved, decide, request, undoing
from playbooks.guard import Past, Situation, refusal
from playbooks.load import load_playbooks
from playbooks.match import limit_key, matches, targets
from playbooks.playbook import Budget, Limit, Playbook, Verify, When
from playbooks.reasons import Reason
from schemas.action import Mode
from schemas.incident import SEVERITIES, Incident
from tests.playbooks.case import ONSET, an_incident

NOW = ONSET + 600.0
IN_THE_STAGE = {Reason.APPROVED, Reason.REJECTED, Reason.OVER}
"""What a person's answer leads to is decided where the answer comes in."""


def a_playbook(**changed: Any) -> Playbook:  # Any: any field of a playbook
    """A playbook that would act."""
    return Playbook(**{"playbook": "p", "summary": "do it", "action": "notify", "mode": "act", **changed})


def at(**changed: Any) -> Situation:  # Any: any field of a situation
    """Ten minutes after the onset, with fresh data and a baseline."""
    return Situation(**{"now": NOW, "data_age": 1.0, "has_baseline": True, **changed})


def past(seconds_ago: float, **changed: Any) -> Past:  # Any: any field of a past action
    """The same action, so long ago."""
    return Past(**{"playbook": "p", "target": "j", "time": NOW - seconds_ago, "proof": "tokens_per_second", **changed})


SHARE = Limit(signal="loader_share", above=0.15, steps=50)
KEY = limit_key(SHARE)


@pytest.mark.parametrize(
    ("when", "incident", "held", "applies"),
    [
        pytest.param(When(), an_incident(), {}, True, id="no condition"),
        pytest.param(When(causes=("loader_starved_by_storage",)), an_incident(), {}, True, id="its cause"),
        pytest.param(When(causes=("hang", "gpu_failed")), an_incident(), {}, False, id="another cause"),
        pytest.param(When(layers=("storage", "data")), an_incident(), {}, True, id="its layer"),
        pytest.param(When(layers=("gpu",)), an_incident(), {}, False, id="another layer"),
        pytest.param(When(), an_incident(severity="info"), {}, False, id="information"),
        pytest.param(When(severity="info"), an_incident(severity="info"), {}, True, id="information is enough"),
        pytest.param(When(severity="error"), an_incident(severity="warning"), {}, False, id="not grave enough"),
        pytest.param(When(severity="error"), an_incident(severity="critical"), {}, True, id="graver"),
        pytest.param(When(), an_incident(state="acting"), {}, True, id="being acted on"),
        pytest.param(When(), an_incident(state="recovering"), {}, False, id="recovering"),
        pytest.param(When(), an_incident(state="resolved"), {}, False, id="resolved"),
        pytest.param(When(states=("resolved",)), an_incident(state="resolved"), {}, True, id="wants it resolved"),
        pytest.param(When(all=(SHARE,)), an_incident(), {}, False, id="a limit that never held"),
        pytest.param(When(all=(SHARE,)), an_incident(), {KEY: ONSET - 1}, False, id="held before the onset"),
        pytest.param(When(all=(SHARE,)), an_incident(), {KEY: ONSET}, True, id="held at the onset"),
        pytest.param(When(all=(SHARE,)), an_incident(), {KEY: NOW}, True, id="holds now"),
        pytest.param(
            When(all=(SHARE, Limit(signal="loss", above=3.0))), an_incident(), {KEY: NOW}, False, id="one of two limits"
        ),
        pytest.param(
            When(all=(Limit(incident="gpu_hours_lost", above=100),)),
            an_incident(gpu_hours_lost=100.0),
            {},
            False,
            id="h",
        ),
        pytest.param(
            When(all=(Limit(incident="gpu_hours_lost", above=100),)),
            an_incident(gpu_hours_lost=101.0),
            {},
            True,
            id="h+",
        ),
        pytest.param(When(all=(Limit(incident="confidence", above=0.8),)), an_incident(), {}, True, id="sure enough"),
        pytest.param(When(all=(Limit(incident="confidence", above=0.9),)), an_incident(), {}, False, id="not so sure"),
        pytest.param(When(all=(Limit(incident="steps", above=500),)), an_incident(), {}, False, id="500 steps"),
        pytest.param(When(all=(Limit(incident="steps", above=499),)), an_incident(), {}, True, id="over 499 steps"),
        pytest.param(
            When(all=(Limit(incident="steps", above=100),)), an_incident(end_step=150), {}, False, id="ended before"
        ),
        pytest.param(
            When(all=(Limit(incident="steps", above=100),)), an_incident(onset_step=None), {}, False, id="without steps"
        ),
    ],
)
def test_when_a_playbook_applies(when: When, incident: Incident, held: dict[str, float], applies: bool) -> None:
    """Cause, layer, severity, state and every limit have to fit; at step 600, five hundred steps after the onset."""
    assert matches(a_playbook(when=when), incident, held, 600) is applies


def test_steps_need_a_step() -> None:
    """Where the job has shown no step, no incident has lasted any."""
    assert not matches(a_playbook(when=When(all=(Limit(incident="steps", above=0),))), an_incident(), {}, None)


def test_whom_an_action_concerns() -> None:
    """The job, or every blamed node, of which there may be none."""
    assert targets(a_playbook(), an_incident(nodes=())) == ("j",)
    assert targets(a_playbook(target="nodes"), an_incident(nodes=("n01", "n02"))) == ("n01", "n02")
    assert targets(a_playbook(target="nodes"), an_incident(nodes=())) == ()


REFUSALS = [
    ("nothing against it", {}, {}, {}, None),
    ("information", {}, {"severity": "info"}, {}, Reason.INFO),
    ("too unsure", {"when": When(confidence=0.95)}, {}, {}, Reason.UNSURE),
    ("sure enough", {"when": When(confidence=0.9)}, {}, {}, None),
    ("too cheap", {"price": 3601.0}, {"gpu_hours_lost": 1.0}, {}, Reason.CHEAP),
    ("worth its price", {"price": 3600.0}, {"gpu_hours_lost": 1.0}, {}, None),
    ("old data", {}, {}, {"data_age": 120.5}, Reason.STALE),
    ("data as old as allowed", {}, {}, {"data_age": 120.0}, None),
    (
        "another culprit a moment ago",
        {"target": "nodes", "steady_seconds": 15.0},
        {},
        {"steady": 14.5},
        Reason.UNSTEADY,
    ),
    ("the same culprit for long enough", {"target": "nodes", "steady_seconds": 15.0}, {}, {"steady": 15.0}, None),
    ("nothing is done to nodes", {"steady_seconds": 15.0}, {}, {"steady": 0.0}, None),
    ("old data are the reason", {"fresh_seconds": 0.0}, {}, {"data_age": 9e9}, None),
    ("nothing to measure by", {"verify": Verify()}, {}, {"has_baseline": False}, Reason.NO_BASELINE),
    ("no measure wanted", {}, {}, {"has_baseline": False}, None),
    (
        "a pause has its own limit",
        {"verify": Verify(signal="checkpoint_seconds", below=30.0)},
        {},
        {"has_baseline": False},
        None,
    ),
    (
        "still under trial",
        {"verify": Verify(), "cooldown": 0.0},
        {},
        {"past": (past(60, settled=False),)},
        Reason.TARGET_BUSY,
    ),
    (
        "another playbook's action under trial by the same signal",
        {"verify": Verify(), "cooldown": 0.0},
        {},
        {"past": (past(60, settled=False, playbook="q"),)},
        Reason.TARGET_BUSY,
    ),
    (
        "another playbook's action under trial by another signal",
        {"verify": Verify(), "cooldown": 0.0},
        {},
        {"past": (past(60, settled=False, playbook="q", proof="checkpoint_seconds"),)},
        None,
    ),
    ("trial is over", {"verify": Verify(), "cooldown": 0.0}, {}, {"past": (past(60),)}, None),
    (
        "another target under trial",
        {"verify": Verify(), "cooldown": 0.0},
        {},
        {"past": (past(60, settled=False, target="k"),)},
        None,
    ),
    ("a short while ago", {"cooldown": 1800.0}, {}, {"past": (past(1799),)}, Reason.COOLDOWN),
    ("long enough ago", {"cooldown": 1800.0}, {}, {"past": (past(1800),)}, None),
    ("on another target", {"cooldown": 1800.0}, {}, {"past": (past(1, target="k"),)}, None),
    ("by another playbook", {"cooldown": 1800.0}, {}, {"past": (past(1, playbook="q"),)}, None),
    (
        "the budget is spent",
        {"cooldown": 0.0, "budget": Budget(actions=2, seconds=3600.0)},
        {},
        {"past": (past(3000), past(10, target="k"))},
        Reason.BUDGET,
    ),
    (
        "one of the window has passed",
        {"cooldown": 0.0, "budget": Budget(actions=2, seconds=3600.0)},
        {},
        {"past": (past(3600), past(10))},
        None,
    ),
]


@pytest.mark.parametrize(
    ("policy", "incident", "situation", "reason"), [pytest.param(*row[1:], id=row[0]) for row in REFUSALS]
)
def test_what_stands_against_an_action(
    policy: dict[str, Any],  # Any: fields of a playbook
    incident: dict[str, Any],  # Any: fields of an incident
    situation: dict[str, Any],  # Any: fields of a situation
    reason: Reason | None,
) -> None:
    """Each no has its own reason, and each limit its edge."""
    assert refusal(a_playbook(**policy), an_incident(**incident), "j", 1, at(**situation)) is reason


def test_who_is_the_target() -> None:
    """Without a target there is nobody to act on, and with too many a person decides."""
    assert refusal(a_playbook(), an_incident(), "", 0, at()) is Reason.NOBODY
    assert refusal(a_playbook(), an_incident(), "n01", 2, at()) is Reason.TOO_MANY
    assert refusal(a_playbook(most_targets=2), an_incident(), "n01", 2, at()) is None


def test_the_first_reason_is_given() -> None:
    """Of several reasons the one is told that a person can do least about."""
    everything = a_playbook(when=When(confidence=1.0), price=1e9, verify=Verify())
    worst = at(data_age=1e9, has_baseline=False, past=(past(1, settled=False),) * 9)
    assert refusal(everything, an_incident(severity="info"), "", 9, worst) is Reason.INFO
    assert refusal(everything, an_incident(), "", 9, worst) is Reason.NOBODY
    assert refusal(everything, an_incident(), "j", 1, worst) is Reason.UNSURE


@pytest.mark.parametrize(
    ("mode", "verdict", "reason"),
    [("observe", "would_act", Reason.OBSERVE), ("ask", "asked", Reason.ASKED), ("act", "act", Reason.ACT)],
)
def test_what_a_mode_leads_to(mode: Mode, verdict: str, reason: Reason) -> None:
    """Where nothing stands against it the mode decides; where something does, every mode is refused alike."""
    free = decide(a_playbook(mode=mode), an_incident(), "j", 1, at())
    assert (free.verdict, free.reason) == (verdict, reason)
    held = decide(a_playbook(mode=mode), an_incident(), "j", 1, at(past=(past(1),)))
    assert (held.verdict, held.reason) == ("refused", Reason.COOLDOWN)


def test_every_reason_is_reached() -> None:
    """No reason is dead: each is given by the tables above, by a mode, or by a person's answer."""
    given_above = {row[4] for row in REFUSALS if row[4] is not None}
    modes = {Reason.OBSERVE, Reason.ASKED, Reason.ACT}
    assert given_above | modes | IN_THE_STAGE | {Reason.NOBODY, Reason.TOO_MANY} == set(Reason)


situations = st.builds(
    Situation,
    now=st.just(NOW),
    data_age=st.floats(0, 1000),
    has_baseline=st.booleans(),
    past=st.lists(
        st.builds(
            Past,
            playbook=st.sampled_from(["p", "q"]),
            target=st.sampled_from(["j", "k"]),
            time=st.floats(NOW - 1e5, NOW),
            settled=st.booleans(),
        ),
        max_size=6,
    ),
)


@given(situations, st.sampled_from(SEVERITIES), st.floats(0, 1), st.integers(0, 4))
def test_an_action_is_never_too_frequent(situation: Situation, severity: str, confidence: float, whom: int) -> None:
    """Whatever the situation: no action without a target, on information, in its cooldown or over its budget."""
    policy = a_playbook(when=When(confidence=0.5), budget=Budget(actions=2, seconds=7200.0))
    incident = an_incident(severity=severity, confidence=confidence)
    decision = decide(policy, incident, "j" if whom else "", whom, situation)
    if decision.verdict == "act":
        own = [one for one in situation.past if one.playbook == "p"]
        assert whom == 1
        assert severity != "info"
        assert confidence >= 0.5
        assert all(NOW - one.time >= policy.cooldown for one in own if one.target == "j")
        assert sum(NOW - one.time < 7200.0 for one in own) < 2
    else:
        assert decision.verdict == "refused"


def test_only_what_is_to_be_run_becomes_a_request() -> None:
    """Observing and refusing leave no request behind."""
    assert request(a_playbook(), an_incident(), "j", "would_act", "opened", at(), 7) is None
    assert request(a_playbook(), an_incident(), "j", "refused", "opened", at(), 7) is None


def test_a_request_says_all_that_is_needed() -> None:
    """Parameters carry the occasion where they ask for it, and the summary says what and why."""
    policy = a_playbook(params={"kind": "$occasion", "sink": "oncall"}, expires=60.0, on_failure="loader.restore")
    made = request(policy, an_incident(), "j", "asked", "resolved", at(), 7)
    assert made is not None
    assert made.params == {"kind": "resolved", "sink": "oncall"}
    assert (made.decision, made.time, made.step, made.expires, made.reversible) == ("asked", NOW, 7, 60.0, True)
    assert made.summary == "do it (the loader waits)"


def test_requests_are_told_apart_by_their_occasion() -> None:
    """The same is asked for once: id and key are the same now and later, and differ by target, occasion, severity."""

    def made(target: str = "j", occasion: str = "opened", now: float = NOW, **changed: Any) -> str:  # Any: of incident
        found = request(a_playbook(), an_incident(**changed), target, "act", occasion, at(now=now), None)
        assert found is not None
        return found.id

    assert made() == made(now=NOW + 60.0, confidence=0.1, severity="critical")
    others = [made(), made("n01"), made(occasion="resolved"), made(id="another")]
    worse = [made(occasion="changed", severity=severity) for severity in ("error", "critical")]
    assert len({*others, *worse}) == 6


def test_what_follows_a_yes_and_a_failure() -> None:
    """Approval and undoing are requests of their own, with the time of their decision."""
    asked = request(a_playbook(params={"steps": 400}), an_incident(), "j", "asked", "opened", at(), 7)
    assert asked is not None
    yes = approved(asked, at(now=NOW + 90.0), None)
    assert (yes.decision, yes.time, yes.step, yes.params) == ("act", NOW + 90.0, 7, {"steps": 400})
    back = undoing(yes, "loader.restore", at(now=NOW + 900.0), 50)
    assert (back.action, back.params, back.time, back.step) == ("loader.restore", {}, NOW + 900.0, 50)
    assert len({asked.id, yes.id, back.id}) == 3


@pytest.mark.parametrize(
    ("cause", "layer", "marked"),
    [
        ("loader_starved", "data", False),
        ("recurring_loader_stall", "data", False),
        ("uneven_sequences", "data", False),
        ("metadata_slow", "storage", False),
        ("expert_imbalance", "model", False),
        ("data_fault", "data", True),
        ("recovery_differs", "model", True),
        ("silent_corruption", "gpu", True),
    ],
)
def test_steps_are_marked_where_data_or_numbers_are_suspect(cause: str, layer: CauseLayer, marked: bool) -> None:
    """However long a job was slow, what it has learned is sound, unless what it learned from is not."""
    incident = an_incident(cause=cause, layer=layer)
    named = [one for one in load_playbooks() if one.action == "taint.mark" and matches(one, incident, {}, 90_000)]
    assert bool(named) == marked
