"""From incidents to requests, and from the job's answer to a verdict."""

import itertools

import pytest
from msgspec import structs

from playbooks.playbook import Budget, Limit, Verify, When
from playbooks.reasons import Reason
from schemas.action import Request
from schemas.incident import Incident
from schemas.telemetry import Tick
from tests.stages.desk import PACE, Desk, cache, tell

PAUSES = Verify(signal="checkpoint_seconds", below=30.0, within_steps=60, within_seconds=200.0)


def actions(desk: Desk) -> list[str]:
    """The actions that were requested to be run."""
    return [one.action for one in desk.requests if one.decision == "act"]


@pytest.mark.parametrize(
    ("rows", "acts"),
    [
        pytest.param([(9, 0.25, "")], False, id="nine steps in a row"),
        pytest.param([(10, 0.25, "")], True, id="ten"),
        pytest.param([(9, 0.25, ""), (1, 0.03, ""), (9, 0.25, "")], False, id="one good step begins the count anew"),
        pytest.param([(9, 0.25, ""), (1, None, ""), (1, 0.25, "")], True, id="a step without a reading does not"),
        pytest.param([(9, 0.25, ""), (3, 0.03, "eval"), (1, 0.25, "")], True, id="nor does a phase"),
        pytest.param([(9, 0.25, ""), (5, 0.25, "eval")], False, id="a phase does not count either"),
        pytest.param([(20, 0.15, "")], False, id="the limit itself is not over it"),
    ],
)
def test_a_limit_in_a_row(rows: list[tuple[int, float | None, str]], acts: bool) -> None:
    """A playbook acts once its limit has held for ten steps in a row since the onset."""
    desk = Desk(cache())
    desk.draft()
    for steps, share, phase in rows:
        desk.go(steps, pace=0.7 * PACE, loader_share=share, phase=phase)
    assert actions(desk) == (["loader.use_cache"] if acts else [])


def test_a_limit_that_held_before_the_onset_does_not_count() -> None:
    """What was over its limit yesterday does not trigger an action today."""
    desk = Desk(cache())
    desk.go(20, loader_share=0.25)
    desk.go(5)
    desk.draft()
    desk.go(9, loader_share=0.25)
    assert actions(desk) == []


def test_limits_of_one_playbook_may_hold_at_different_steps() -> None:
    """A pause that was long at one step counts with a share that is high at another."""
    limits = (Limit(signal="checkpoint_seconds", above=30), Limit(signal="loader_share", above=0.15, steps=3))
    desk = Desk(cache(when=When(all=limits)))
    desk.draft()
    desk.go(1, checkpoint_seconds=41.0)
    desk.go(10)
    assert actions(desk) == []
    desk.go(3, loader_share=0.2)
    assert actions(desk) == ["loader.use_cache"]


@pytest.mark.parametrize(
    ("mode", "decision", "reason", "outcome", "requested"),
    [
        pytest.param("observe", "would_act", Reason.OBSERVE, "", [], id="observe"),
        pytest.param("ask", "asked", Reason.ASKED, "", ["asked"], id="ask"),
        pytest.param("act", "act", Reason.ACT, "pending", ["act"], id="act"),
    ],
)
def test_modes(mode: str, decision: str, reason: Reason, outcome: str, requested: list[str]) -> None:
    """What a playbook may do depends on its mode, and the incident shows what was decided and why."""
    desk = Desk(cache(mode=mode))
    desk.starve()
    entry = desk.entry()
    assert (entry.decision, entry.reason, entry.outcome, entry.mode) == (decision, reason, outcome, mode)
    assert [one.decision for one in desk.requests] == requested
    assert desk.incident.state == ("acting" if mode == "act" else "open")


def test_a_request_says_what_it_is_for() -> None:
    """Target, parameters, step, expiry and a summary travel with it, and its id is the one that is shown."""
    desk = Desk(cache())
    desk.starve()
    [request] = desk.requests
    assert (request.incident, request.target, request.params) == ("incident-1", "toy", {"path": "cache"})
    assert (request.step, request.time, request.expires, request.reversible) == (129, desk.time - 2, 600.0, True)
    assert request.summary.startswith("read from the cache")
    assert desk.entry().request == request.id


def test_an_approval_leads_to_another_request() -> None:
    """When a person says yes, a request that is to be run follows, with its own id and the time of the answer."""
    desk = Desk(cache(mode="ask"))
    desk.starve()
    [asked] = desk.requests
    desk.go(5, pace=0.7 * PACE)
    desk.happen("request.approved", asked.id, by="kim")
    [_, approved] = desk.requests
    assert (approved.decision, approved.time, approved.action) == ("act", desk.time, asked.action)
    assert approved.id != asked.id
    entry = desk.entry()
    assert (entry.decision, entry.reason, entry.request, entry.detail) == (
        "act",
        Reason.APPROVED,
        approved.id,
        "by kim",
    )
    assert (entry.verification, desk.incident.state) == ("waiting", "acting")
    desk.happen("request.approved", asked.id, by="kim")
    assert len(desk.requests) == 2


def test_a_rejection_is_the_end_of_it() -> None:
    """When a person says no, nothing is run, and a second thought comes too late."""
    desk = Desk(cache(mode="ask"))
    desk.starve()
    [asked] = desk.requests
    desk.happen("request.rejected", asked.id, by="kim")
    desk.happen("request.approved", asked.id, by="lee")
    desk.go(200, pace=0.7 * PACE, loader_share=0.25)
    assert desk.requests == [asked]
    assert (desk.entry().outcome, desk.entry().reason, desk.entry().detail) == ("rejected", Reason.REJECTED, "by kim")


def test_an_approval_that_comes_after_the_end_is_too_late() -> None:
    """What was asked for an incident that is over is not run any more, and the incident says so."""
    desk = Desk(cache(mode="ask"))
    desk.starve()
    [asked] = desk.requests
    desk.draft(state="resolved", end_time=desk.time)
    desk.happen("request.approved", asked.id, by="kim")
    assert desk.requests == [asked]
    desk.fed.flush()
    desk.draft(title="told once more")
    assert (desk.entry().outcome, desk.entry().reason) == ("rejected", Reason.OVER)


def test_an_approval_for_an_attempt_that_is_over_does_nothing_to_the_next() -> None:
    """The job has started again since it was asked: what was wanted of it then is not done to it now."""
    desk = Desk(cache(mode="ask"))
    desk.starve()
    [asked] = desk.requests
    desk.happen("attempt.started", attempt=2)
    desk.happen("request.approved", asked.id, by="kim")
    assert desk.requests == [asked]
    assert (desk.entry().outcome, desk.entry().reason) == ("rejected", Reason.OVER)


def test_an_answer_to_nothing_changes_nothing() -> None:
    """Answers to requests that were never made, or never asked for, are ignored."""
    desk = Desk(cache())
    desk.starve()
    shown = desk.incident
    desk.happen("request.approved", "no-such-id", by="kim")
    desk.happen("request.rejected", desk.requests[0].id, by="kim")
    assert desk.incident == shown


def test_a_recovery_is_verified() -> None:
    """From the trainer's acknowledgement on, steps are counted; ten good ones after two of re-warming are a verdict."""
    desk = Desk(cache())
    desk.starve()
    [request] = desk.requests
    desk.acknowledge(request)
    assert (desk.entry().outcome, desk.entry().step) == ("done", desk.step - 1)
    desk.go(2, pace=0.5 * PACE)
    desk.go(9, pace=0.98 * PACE)
    assert desk.entry().verification == "waiting"
    desk.go(2, pace=0.98 * PACE)
    assert desk.entry().verification == "verified"
    assert "98" in desk.entry().detail
    assert desk.incident.state == "open"
    assert actions(desk) == ["loader.use_cache"]


def test_what_did_not_help_is_taken_back() -> None:
    """A job that is no better after sixty steps has failed the trial, and the undoing action is requested once."""
    desk = Desk(cache())
    desk.starve()
    desk.acknowledge(desk.requests[0])
    desk.go(80, pace=0.7 * PACE, loader_share=0.25)
    assert desk.entry().verification == "failed"
    assert actions(desk) == ["loader.use_cache", "loader.restore"]
    undo = desk.requests[1]
    assert (undo.incident, undo.target, undo.params) == ("incident-1", "toy", {})
    assert "did not help" in undo.summary
    assert desk.entry("loader.restore").outcome == "pending"


def test_what_did_not_help_and_has_no_way_back_stays() -> None:
    """Without an undoing action a failed trial is told and that is all."""
    desk = Desk(cache(on_failure=""))
    desk.starve()
    desk.acknowledge(desk.requests[0])
    desk.go(80, pace=0.7 * PACE, loader_share=0.25)
    assert desk.entry().verification == "failed"
    assert actions(desk) == ["loader.use_cache"]


def test_an_acknowledgement_with_an_error() -> None:
    """When the trainer could not apply it, the action has failed and is not verified."""
    desk = Desk(cache())
    desk.starve()
    desk.acknowledge(desk.requests[0], error="no such path")
    entry = desk.entry()
    assert (entry.outcome, entry.verification, entry.detail) == ("failed", "", "no such path")
    assert desk.incident.state == "open"


@pytest.mark.parametrize("step", [None, -1, True, "120", [1], 1 << 60])
def test_an_acknowledgement_without_a_step_is_none(step: object) -> None:
    """A trial begins at a step; where none is said, it goes on waiting and expires."""
    desk = Desk(cache())
    desk.starve()
    desk.acknowledge(desk.requests[0], step=step)
    assert desk.entry().outcome == "pending"
    desk.go(210, pace=0.7 * PACE)
    assert desk.entry().verification == "expired"


def test_an_acknowledgement_that_comes_twice_counts_once() -> None:
    """The step at which it took effect is that of the first word."""
    desk = Desk(cache())
    desk.starve()
    step = desk.step - 1
    desk.acknowledge(desk.requests[0])
    desk.go(5)
    desk.acknowledge(desk.requests[0])
    assert desk.entry().step == step


@pytest.mark.parametrize(
    ("event", "outcome"),
    [("action.failed", "failed"), ("action.refused", "refused"), ("action.done", "done")],
)
def test_the_runners_word(event: str, outcome: str) -> None:
    """How a run ended is shown with the runner's own words; what was not done is not verified."""
    desk = Desk(cache())
    desk.starve()
    desk.happen(event, desk.requests[0].id, action="loader.use_cache", id=desk.requests[0].id, error="why")
    entry = desk.entry()
    assert (entry.outcome, entry.detail) == (outcome, "why")
    assert entry.verification == ("waiting" if outcome == "done" else "")
    assert desk.incident.state == ("acting" if outcome == "done" else "open")


def test_the_same_is_not_done_twice_for_one_incident() -> None:
    """However long the limit holds, one incident leads to one request of a playbook."""
    desk = Desk(cache(cooldown=1.0))
    desk.starve()
    desk.go(300, pace=0.7 * PACE, loader_share=0.25)
    assert actions(desk).count("loader.use_cache") == 1


def test_cooldown_and_budget_reach_over_incidents() -> None:
    """A second incident has to wait for the cooldown of the first one's action, and for a budget that is spent."""
    desk = Desk(cache(verify=None, cooldown=100.0, budget=Budget(actions=2, seconds=1000.0)))
    desk.starve()
    reasons = []
    for number in (2, 3, 4):
        desk.draft(id=f"incident-{number}", onset_time=desk.time)
        desk.go(12, loader_share=0.25)
        reasons.append(desk.entry(incident=f"incident-{number}").reason)
        if number == 2:
            desk.go(100, loader_share=0.25)
            assert desk.entry(incident="incident-2").decision == "act"
        desk.draft(state="resolved", end_time=desk.time)
        desk.go(101)
        desk.draft(state="open", end_time=None)
    assert reasons == [Reason.COOLDOWN, Reason.BUDGET, Reason.BUDGET]


def test_a_refusal_is_reconsidered() -> None:
    """What was refused for a reason that passes is done when the reason has passed, and only the decision is told."""
    desk = Desk(cache(when=When(causes=("starved",), confidence=0.95)))
    desk.draft(confidence=0.5)
    assert (desk.entry().decision, desk.entry().reason) == ("refused", Reason.UNSURE)
    desk.go(10)
    desk.draft(confidence=0.97)
    assert (desk.entry().decision, desk.entry().reason) == ("act", Reason.ACT)
    assert len(desk.incident.actions) == 1


def test_without_a_baseline_there_is_no_experiment() -> None:
    """Where nothing normal was learned before the incident, success could not be told, so nothing is done."""
    desk = Desk(cache(), learned=False)
    desk.starve()
    assert desk.entry().reason == Reason.NO_BASELINE
    assert desk.requests == []


@pytest.mark.parametrize("level", [0.0, None])
def test_a_baseline_of_nothing_is_none(level: float | None) -> None:
    """A level of zero or one that was forgotten measures nothing."""
    desk = Desk(cache())
    desk.go(1, normal={"tokens_per_second": level})
    desk.starve()
    assert desk.entry().reason == Reason.NO_BASELINE


def test_the_baseline_is_that_of_before() -> None:
    """What is learned as normal after the incident was opened does not make a bad job look good."""
    desk = Desk(cache())
    desk.starve()
    desk.go(1, pace=0.7 * PACE, normal={"tokens_per_second": 0.7 * PACE})
    desk.acknowledge(desk.requests[0])
    desk.go(80, pace=0.7 * PACE)
    assert desk.entry().verification == "failed"


def test_stale_data_are_not_acted_on() -> None:
    """When the last step is older than the playbook allows, it waits; a hang's playbook does not."""
    fresh, any_age = cache(when=When(), fresh_seconds=60.0), cache(playbook="any", when=When(), fresh_seconds=0.0)
    desk = Desk(fresh, any_age)
    desk.time += 100.0
    desk.draft()
    shown = {entry.playbook: entry.reason for entry in desk.incident.actions}
    assert shown == {"cache": Reason.STALE, "any": Reason.ACT}


def test_each_blamed_node_is_a_target() -> None:
    """A playbook for nodes acts on each of them, on none where nobody is blamed, and on none of too many."""
    cordon = cache(playbook="cordon", action="node.cordon", when=When(), target="nodes", most_targets=2, verify=None)
    for nodes, wanted in (
        (("n1", "n2"), [("n1", Reason.ACT), ("n2", Reason.ACT)]),
        ((), [("", Reason.NOBODY)]),
        (("n1", "n2", "n3"), [(name, Reason.TOO_MANY) for name in ("n1", "n2", "n3")]),
    ):
        desk = Desk(cordon)
        desk.draft(nodes=nodes)
        assert [(entry.target, entry.reason) for entry in desk.incident.actions] == wanted


def test_nodes_are_left_alone_until_it_is_clear_which_they_are() -> None:
    """While an incident still changes its mind about who is to blame, nothing is done to anybody."""
    desk = Desk(cache(target="nodes", when=When(causes=("starved",)), verify=None, steady_seconds=15.0))
    desk.draft(nodes=("n01",))
    desk.go(10)
    desk.draft(nodes=("n02",))
    desk.go(14)
    assert desk.requests == []
    desk.go(2)
    assert [one.target for one in desk.requests] == ["n02"]


def test_people_are_told_at_first_when_it_gets_worse_and_at_the_end() -> None:
    """Each occasion is told once; getting worse twice is two occasions."""
    desk = Desk(tell())
    desk.draft(severity="warning")
    desk.go(5)
    desk.draft(title="more is known")
    for severity in ("error", "error", "critical"):
        desk.go(5)
        desk.draft(severity=severity)
    desk.draft(state="recovering")
    desk.draft(state="resolved", end_time=desk.time)
    desk.draft(title="told once more")
    assert [one.params["kind"] for one in desk.requests] == ["opened", "changed", "changed", "resolved"]
    assert len({one.id for one in desk.requests}) == 4


def test_who_was_not_told_of_the_beginning_is_not_told_of_the_end() -> None:
    """An incident that closes before it mattered is told to nobody."""
    desk = Desk(tell(when=When(severity="critical", states=("open", "resolved"))))
    desk.draft(severity="warning")
    desk.draft(state="resolved", end_time=desk.time)
    assert desk.requests == []


def test_a_legitimate_change_moves_nothing() -> None:
    """An incident of severity info neither pages nor acts."""
    desk = Desk(tell(when=When(severity="info")))
    desk.draft(severity="info")
    assert desk.entry("notify").reason == Reason.INFO
    assert desk.requests == []


def test_two_actions_on_one_measure_confound_each_other() -> None:
    """When another action took effect meanwhile, nobody can say which of them helped."""
    other = cache(playbook="other", action="node.cordon", target="nodes", when=When(), on_failure="")
    desk = Desk(cache(when=When()), other)
    desk.draft(nodes=("n01",))
    desk.go(12, pace=0.7 * PACE)
    assert len(desk.requests) == 2
    for request in desk.requests:
        desk.acknowledge(request)
    desk.go(20)
    assert {entry.verification for entry in desk.incident.actions} == {"confounded"}


def test_two_actions_on_one_target_and_measure_come_one_after_the_other() -> None:
    """The second waits until the first is judged; it is tried when that did not help."""
    desk = Desk(cache(when=When()), cache(playbook="other", action="loader.more_workers", when=When(), on_failure=""))
    desk.draft()
    desk.go(12, pace=0.7 * PACE)
    assert [one.playbook for one in desk.requests] == ["cache"]
    assert [entry.reason for entry in desk.incident.actions] == [Reason.ACT, Reason.TARGET_BUSY]
    desk.acknowledge(desk.requests[0])
    desk.go(400, pace=0.7 * PACE)
    assert "other" in [one.playbook for one in desk.requests]


def test_a_job_that_was_well_before_is_no_proof() -> None:
    """When the job had recovered by itself before the effect, the action is not credited."""
    desk = Desk(cache(when=When()))
    desk.draft()
    desk.go(12)
    desk.acknowledge(desk.requests[0])
    desk.go(20)
    assert desk.entry().verification == "confounded"


def test_pauses_are_judged_by_the_next_save() -> None:
    """A deferred checkpoint has helped when the planned save did not pause the job."""
    desk = Desk(cache(when=When(), verify=PAUSES, on_failure=""))
    for _ in range(3):
        desk.go(1, checkpoint_seconds=41.0)
        desk.go(19)
    desk.draft()
    desk.acknowledge(desk.requests[0])
    desk.go(30)
    assert desk.entry().verification == "verified"
    assert "no pause at the planned save of step 179" in desk.entry().detail


def test_a_tick_lets_time_pass() -> None:
    """A trial that nobody acknowledges expires although no step comes."""
    desk = Desk(cache())
    desk.starve()
    desk.fed.feed(Tick(time=desk.time + 300.0))
    assert desk.entry().verification == "expired"


def test_revisions_count_up_and_change_something() -> None:
    """Every revision of an incident has the next number, and no two in a row say the same."""
    desk = Desk(cache(), tell())
    desk.starve()
    desk.acknowledge(desk.requests[0])
    desk.go(40)
    desk.draft()
    desk.draft()
    desk.draft(state="resolved", end_time=desk.time)
    shown = desk.fed.told(Incident)
    assert [one.revision for one in shown] == list(range(1, len(shown) + 1))
    plain = [structs.replace(one, revision=0, updated_time=0.0) for one in shown]
    assert all(first != second for first, second in itertools.pairwise(plain))


def test_a_marked_range_is_shown() -> None:
    """Once the ledger has the steps, the incident says so."""
    desk = Desk(cache(playbook="taint", action="taint.mark", when=When(), verify=None))
    desk.draft()
    assert desk.incident.taint is not None
    assert not desk.incident.taint.marked
    desk.happen("action.done", desk.requests[0].id, action="taint.mark", id=desk.requests[0].id)
    assert desk.incident.taint.marked


def test_a_book_is_closed_after_a_day() -> None:
    """Incidents that ended yesterday are not kept in memory."""
    desk = Desk(cache())
    desk.draft(state="resolved", end_time=desk.time)
    desk.time += 86_500.0
    desk.draft(id="incident-2", state="open", end_time=None)
    assert list(desk.fed.memory.books) == ["incident-2"]


def test_requests_are_kept_as_they_are_derived() -> None:
    """The same story gives the same requests, whenever it is told."""
    ids = []
    for _ in range(2):
        desk = Desk(cache(), tell())
        desk.starve()
        ids.append([one.id for one in desk.fed.told(Request)])
    assert ids[0] == ids[1]
    assert len(ids[0]) == 2
