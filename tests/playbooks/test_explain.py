"""An incident in words, and what its words rest on."""

import pytest
from msgspec import structs

from playbooks.cause import Cause
from playbooks.diagnosis import diagnose, weigh
from playbooks.explain import explain
from playbooks.load import load_causes
from playbooks.priors import UnknownPrior, proposals, with_priors
from schemas.action import ActionEntry
from schemas.incident import Evidence, Moved, RankedCause, RuledOut, Taint
from tests.playbooks.case import CALM, ONSET, STORAGE, a_detection, an_event, an_incident, facts, slow

CAUSES = load_causes()


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.cause)
def test_every_hypothesis_says_what_moved_it(cause: Cause) -> None:
    """Prior and moves add up to the weight of each hypothesis, so that nothing about a verdict is hidden."""
    known = facts(*STORAGE, slow(1, onset_time=ONSET - 99.0), an_event("storage.error", subject="/data"), tracks=CALM)
    weighed = weigh(cause, known)
    assert cause.prior + sum(moved.weight for moved in weighed.moved()) == pytest.approx(weighed.weight, abs=0.01)


def test_a_verdict_carries_what_moved_it() -> None:
    """What moved the leading cause stands in the ranking, the heaviest first."""
    [first, *_] = diagnose(facts(*STORAGE, tracks=CALM), CAUSES).ranked
    weights = [abs(moved.weight) for moved in first.moved]
    assert len(weights) > 3
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(("lead", "weight"), [(60.0, 0.3), (-60.0, -0.3)])
def test_the_order_of_onsets_speaks(lead: float, weight: float) -> None:
    """A cause whose evidence began first is believed more than the same cause whose evidence came late."""
    told = [structs.replace(one, onset_time=ONSET + 60.0) for one in STORAGE]
    other = a_detection("sm_clock_mhz", onset_time=ONSET + 60.0 + lead, direction="up")
    [leading, *_] = diagnose(facts(*told, other, seed=told[0], tracks=CALM), CAUSES).ranked
    [order] = [moved.weight for moved in leading.moved if "began" in moved.text]
    assert order == weight


def test_an_incident_is_told_in_half_a_minute() -> None:
    """What, since when, who, why, why not the others, what is being done: in fewer than 150 words."""
    incident = an_incident(
        evidence=(
            Evidence(status="established", text="loader_share 3 % → 25 %", layer="data", weight=2.0),
            Evidence(status="established", text="cpu_util is 22 %", layer="system", weight=-0.5, speaks_for=False),
        ),
        causes=(
            RankedCause(cause="loader_starved_by_storage", score=0.9, weight=6.0),
            RankedCause(cause="slow_gpu", score=0.1, weight=1.0, moved=(Moved(text="clocks as ever", weight=-2.0),)),
        ),
        ruled_out=(RuledOut(cause="numeric_blow_up", because="no spike of loss"),),
        blind=("iowait was not seen",),
    )
    lines = explain(incident, "the loader waits for the storage path", ("the request rate",))
    text = "\n".join(lines)
    assert len(text.split()) < 150
    for part in ("the loader waits", "90% sure", "step 100", "n01", "3 % → 25 % (+2.0)", "cpu_util is 22 % (-0.5)"):
        assert part in text
    for part in (
        "slow_gpu (10%): clocks as ever",
        "numeric_blow_up: no spike",
        "Not seen: iowait.",
        "nothing on the",
    ):
        assert part in text


def a_statement(text: str, weight: float = 1.0) -> Evidence:
    """Something that was established."""
    return Evidence(status="established", text=text, layer="system", weight=weight, speaks_for=weight > 0)


def line(lines: list[str], begin: str) -> str:
    """The one line that begins so."""
    [found] = [one for one in lines if one.startswith(begin)]
    return found


def test_a_signal_is_spoken_of_once() -> None:
    """Of a signal, its median and its limit the heaviest statement is read out, and the onset is not repeated."""
    told = (
        a_statement("loader_share 2 % → 40 % since step 100", 2.0),
        a_statement("loader_share_median 2 % → 39 % since step 100", 0.5),
        a_statement("loader_share over 15 % for 50 steps in a row since step 100", 0.3),
        a_statement("iowait 1 % → 30 %", 0.2),
    )
    assert line(explain(an_incident(evidence=told)), "Why: ") == (
        "Why: loader_share 2 % → 40 % (+2.0); iowait 1 % → 30 % (+0.2)."
    )


def test_what_speaks_for_one_and_against_the_others_is_quoted_once() -> None:
    """Causes that fell for the same reason stand together, and a long line of a log is cut."""
    xid = f"n02: NVRM: Xid (PCI:0000:3b:00): 79, {'pid unknown, ' * 9}GPU has fallen off the bus."
    incident = an_incident(
        evidence=(a_statement(xid, 4.5),),
        causes=(),
        ruled_out=tuple(RuledOut(cause=name, because=xid) for name in ("application_fault", "checkpoint_stuck")),
    )
    lines = explain(incident)
    assert line(lines, "Why not: ") == (
        "Why not: application_fault, checkpoint_stuck: what speaks for this speaks against it."
    )
    assert "…" in line(lines, "Why: ")
    assert len(line(lines, "Why: ")) < 140


def test_a_cause_that_nobody_believes_in_is_not_read_out() -> None:
    """What holds one percent of the belief is in the incident, and not in half a minute."""
    ranked = (RankedCause(cause="slow_gpu", score=0.12), RankedCause(cause="hang", score=0.01))
    assert line(explain(an_incident(causes=ranked, ruled_out=())), "Why not: ") == "Why not: slow_gpu (12%)."


def test_actions_that_stand_alike_are_told_together() -> None:
    """Each action once, with how it stands."""
    entry = ActionEntry(
        playbook="p", action="taint.mark", target="j", time=0.0, mode="observe", decision="would_act", reason="observe"
    )
    entries = (entry, entry, structs.replace(entry, action="job.stop"))
    assert line(explain(an_incident(actions=entries)), "Being done: ") == (
        "Being done: taint.mark on j, job.stop on j: would be done, observing only."
    )


def test_what_is_contaminated_is_named() -> None:
    """Steps, checkpoints, samples and shards; nothing where only steps are known that nobody has marked."""
    taint = Taint(from_step=100, to_step=1_250, checkpoints=(500, 1000), from_sample=800, to_sample=9_600)
    taint = structs.replace(taint, shards=("a.tar",), shards_opened=3, marked=True)
    assert line(explain(an_incident(taint=taint)), "Contaminated: ") == (
        "Contaminated: steps 100 to 1,250 (in the ledger); checkpoints of step 500, 1,000; samples 800 to 9,600; "
        "shards a.tar and 2 more."
    )
    plain = explain(an_incident(taint=Taint(from_step=1, to_step=9)))
    assert not any(one.startswith("Contaminated") for one in plain)


def test_the_cluster_is_no_job() -> None:
    """What belongs to no job says whose it is, and does not speak of steps."""
    lines = explain(an_incident(job="east", attempt=0, onset_step=None))
    assert lines[1].startswith("Cluster east: since 20")


def test_an_unknown_cause_is_not_dressed_up() -> None:
    """Where nothing explains it, the words say so once and give no percentage."""
    lines = explain(an_incident(cause="unknown", layer="unknown", nodes=(), confidence=0.7), "nothing explains it")
    assert "sure" not in lines[0]
    assert "70%" not in lines[0]
    assert "nobody in particular" in lines[1]


def test_priors_move_a_cause_or_a_layer() -> None:
    """A prior of a layer moves its causes, that of a cause goes before it, and no name may be misspelt."""
    moved = {one.cause: one.prior for one in with_priors(CAUSES, {"gpu": 0.5, "slow_gpu": -0.5})}
    before = {one.cause: one.prior for one in CAUSES}
    assert moved["gpu_failed"] == before["gpu_failed"] + 0.5
    assert moved["slow_gpu"] == before["slow_gpu"] - 0.5
    assert moved["hang"] == before["hang"]
    with pytest.raises(UnknownPrior, match="gqu"):
        with_priors(CAUSES, {"gqu": 0.5})


def test_verdicts_of_people_become_proposals() -> None:
    """What people confirm gains, what they overrule loses, and a planned change counts against what led."""
    led = (RankedCause(cause="network_congestion", score=0.8, weight=4.0),)
    closed = [an_incident(cause="slow_gpu", layer="gpu", causes=led) for _ in range(5)]
    closed.append(an_incident(cause="network_congestion", layer="none", causes=led))
    given = {one.cause: one for one in proposals(closed)}
    assert (given["slow_gpu"].nats, given["slow_gpu"].confirmed) == (0.81, 5)
    assert (given["network_congestion"].nats, given["network_congestion"].overruled) == (-0.92, 6)
    assert len(given["slow_gpu"].verdicts) == 5
    assert given["network_congestion"].verdicts[0].endswith("somebody: slow_gpu, not network_congestion")
    assert given["network_congestion"].verdicts[-1].endswith("somebody: legitimate, not network_congestion")
    assert proposals([an_incident(causes=(RankedCause(cause="hang", score=1.0),), cause="hang")])[0].nats == 0.22
