"""From findings to ranked causes: the sums are open, and no order and no nearness counts."""

import math
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playbooks.cause import UNKNOWN, Cause, Clue
from playbooks.clues import ask
from playbooks.diagnosis import ENOUGH, TEMPERATURE, WEAK, diagnose, explains, opens, weigh
from playbooks.facts import Facts
from playbooks.load import load_causes
from schemas.detection import Detection
from schemas.telemetry import Event
from tests.playbooks.case import CALM, ONSET, STORAGE, a_detection, a_track, an_event, facts, slow

CAUSES = load_causes()


def a_cause(name: str, *clues: Clue, **changed: Any) -> Cause:  # Any: any field of a cause
    """A cause that blames nobody."""
    return Cause(**{"cause": name, "title": name, "layer": "gpu", "severity": "error", "clues": clues, **changed})


FILLING = (a_detection("space_free_bytes", "trend", direction="down", subject="mount:/saves"),)
FULL = (
    an_event("storage.error", subject="/saves", data={"code": 28}, text="[Errno 28] No space left on device"),
    a_detection("interval_seconds", "storage_failure", part="refused", subject="mount:/saves"),
    a_detection("interval_seconds", "rank_error", part="other", ranks=(0,)),
)
NOBODY_KNOWS = a_cause(UNKNOWN, layer="unknown")


def named(*findings: Detection | Event, **changed: Any) -> str:  # Any: any field of the facts
    """The leading cause of the catalogue for some findings."""
    return diagnose(facts(*findings, **changed), CAUSES).cause.cause


@pytest.mark.parametrize(
    ("findings", "cause"),
    [
        pytest.param(STORAGE, "loader_starved_by_storage", id="a loader, retries and latency"),
        pytest.param((an_event("xid", data={"code": 79}, subject="GPU-1"),), "gpu_failed", id="Xid 79"),
        pytest.param((an_event("xid", data={"code": 74}, subject="GPU-1"),), "gpu_link", id="Xid 74"),
        pytest.param((an_event("oom.kill"),), "host_memory", id="a process killed for memory"),
        pytest.param((slow(3),), "slow_gpu", id="one slow rank"),
        pytest.param((slow(3, part="h2d"),), "gpu_link", id="a rank that copies slowly"),
        pytest.param((slow(3, part="loader"),), "slow_loader_on_one_rank", id="a rank that loads slowly"),
        pytest.param(tuple(slow(n) for n in range(4)), "slow_node", id="every rank of a node"),
        pytest.param((a_detection("loss", "nonfinite", part="nan"),), "numeric_blow_up", id="NaN"),
        pytest.param((a_detection("loss", "spike"),), "loss_spike", id="a loss spike"),
        pytest.param((a_detection("bad_sample_share"), a_detection("loss", "spike")), "data_fault", id="bad samples"),
        pytest.param((a_detection("checkpoint_seconds", "checkpoint"),), "checkpoint_on_shared_path", id="a long save"),
        pytest.param((a_detection("source_age_seconds", "silence"),), "telemetry_gone", id="a silent node"),
        pytest.param((a_detection("interval_seconds", "stalled"),), "hang", id="no progress"),
        pytest.param(FILLING, "space_exhausted", id="a mount that fills up"),
        pytest.param((*FILLING, *FULL), "storage_refused", id="and that has been full when the job failed"),
        pytest.param((a_detection("step_seconds"),), "unknown", id="a longer step, nothing else"),
        pytest.param((a_detection("tokens_per_second", direction="down"),), "unknown", id="fewer tokens"),
    ],
)
def test_what_the_catalogue_makes_of_findings(findings: tuple[Detection | Event, ...], cause: str) -> None:
    """Each kind of finding leads to the cause that it is the mark of, and what marks none to `unknown`."""
    assert named(*findings, tracks=CALM) == cause


@pytest.mark.parametrize(
    ("findings", "cause"),
    [
        pytest.param(
            (a_detection("loader_share"), a_detection("storage_metadata_latency_seconds", subject="mount:/data")),
            "metadata_slow",
            id="slow to open, and not to read",
        ),
        pytest.param(
            (a_detection("loader_share"), a_detection("page_cache_bytes", direction="down")),
            "page_cache_lost",
            id="files no longer in memory",
        ),
        pytest.param(
            (a_detection("expert_load_ratio"), a_detection("step_seconds")), "expert_imbalance", id="one busy expert"
        ),
        pytest.param(
            (
                a_detection("step_seconds", "recurring_stall", part="host_prep"),
                an_event("log.line", text="wandb: Network error (ReadTimeout), entering retry loop."),
            ),
            "tracker_unreachable",
            id="a tracker that does not answer",
        ),
        pytest.param(
            (an_event("config.drift", subject="n02", data={"setting": "persistence mode"}),),
            "configuration_drift",
            id="a setting that differs",
        ),
    ],
)
def test_what_further_signals_lead_to(findings: tuple[Detection | Event, ...], cause: str) -> None:
    """Causes that need a signal of their own are named where it speaks, and by it alone."""
    assert named(*findings, tracks={"storage_latency_seconds": a_track(0.004, normal=0.004)}) == cause


def test_no_steps_while_the_gpus_work_is_no_hang() -> None:
    """Full power without steps means that nobody reports them; power that falls means that nobody works."""
    stalled = a_detection("interval_seconds", "stalled")
    assert named(stalled, tracks={"busy_power_watts": a_track(700.0, normal=700.0)}) == "steps_unreported"
    assert named(stalled, tracks={"busy_power_watts": a_track(300.0, normal=700.0)}) == "hang"


@pytest.mark.parametrize(
    ("signal", "level", "cause"),
    [
        pytest.param("busy_temperature_c", 61.0, "steps_unreported", id="as hot as before"),
        pytest.param("busy_temperature_c", 47.0, "hang", id="cooler"),
        pytest.param("busy_sm_active", 0.8, "steps_unreported", id="as many units at work"),
        pytest.param("busy_sm_active", 0.1, "hang", id="few units at work"),
    ],
)
def test_what_tells_a_hang_where_no_power_is_read(signal: str, level: float, cause: str) -> None:
    """Heat and units at work tell of GPUs that train on, and of such that wait."""
    normal = {"busy_temperature_c": 61.0, "busy_sm_active": 0.8}[signal]
    tracks = {"gpu_util": a_track(0.97), signal: a_track(level, normal=normal)}
    assert named(a_detection("interval_seconds", "stalled"), tracks=tracks) == cause


def test_what_was_seen_last_before_the_onset_is_no_evidence() -> None:
    """GPUs of which nothing was heard since may do anything: nobody says that they work, and none is blamed."""
    silent = tuple(a_detection("source_age_seconds", "silence", part="all", nodes=(node,)) for node in ("n1", "n2"))
    tracks = {"busy_power_watts": a_track(700.0, first=ONSET - 10.0, normal=700.0)}
    found = diagnose(facts(*silent, a_detection("interval_seconds", "stalled"), tracks=tracks), CAUSES)
    assert (found.cause.cause, found.suspects) == ("job_unseen", ())


def test_a_loader_that_starves_for_no_reason_that_was_seen() -> None:
    """Where neither the storage nor the CPUs are seen, neither is blamed; one that is seen at fault is."""
    share = a_detection("loader_share")
    assert named(share) == "loader_starved"
    assert named(share, an_event("storage.error", subject="/data")) == "loader_starved_by_storage"
    busy = {"cpu_util": a_track(0.98, 0.99)}
    assert named(share, tracks=busy) == "loader_starved_by_host_cpu"
    assert named(share, tracks=busy, before={"cpu_util": 0.97}) == "loader_starved"


@given(st.permutations((*STORAGE, slow(1), slow(2), an_event("storage.error", subject="/data"))))
@settings(max_examples=50)
def test_the_order_of_findings_does_not_matter(findings: list[Detection | Event]) -> None:
    """Cause, shares and suspects are the same in whatever order the findings stand."""
    straight = diagnose(facts(*sorted(findings, key=repr), seed=STORAGE[0]), CAUSES)
    turned = diagnose(facts(*findings, seed=STORAGE[0]), CAUSES)
    assert (turned.cause, turned.ranked, turned.suspects) == (straight.cause, straight.ranked, straight.suspects)
    assert sorted(one.weight for one in turned.evidence) == sorted(one.weight for one in straight.evidence)


@given(st.permutations(CAUSES))
@settings(max_examples=20)
def test_the_order_of_the_catalogue_does_not_matter(causes: list[Cause]) -> None:
    """Which file comes first decides nothing."""
    straight, turned = (diagnose(facts(*STORAGE), tuple(order)) for order in (CAUSES, causes))
    assert (turned.cause, turned.ranked) == (straight.cause, straight.ranked)


findings_of_all_kinds = st.lists(
    st.sampled_from(
        [
            *STORAGE,
            slow(1),
            slow(2, part="loader"),
            a_detection("loss", "nonfinite"),
            a_detection("power_watts", direction="down"),
            a_detection("interval_seconds", "stalled"),
            an_event("xid", data={"code": 79}),
            an_event("nccl.timeout"),
            an_event("oom.kill"),
        ]
    ),
    unique_by=repr,
    min_size=1,
    max_size=8,
)


@given(findings_of_all_kinds)
@settings(max_examples=100)
def test_the_sums_are_open(findings: list[Detection | Event]) -> None:
    """A cause weighs its prior and the weights of its evidence; shares of belief are from these alone, and sum to 1."""
    known = facts(*findings, tracks=CALM)
    verdict = diagnose(known, CAUSES)
    assert sum(one.score for one in verdict.ranked) == pytest.approx(1.0, abs=1e-3)
    for cause in CAUSES:
        assert weigh(cause, known).weight == pytest.approx(
            cause.prior + sum(_nats(clue, known) for clue in cause.clues)
        )
    told = [one.weight for one in verdict.evidence[1:]]
    assert sum(told) + verdict.cause.prior == pytest.approx(verdict.evidence[0].weight, abs=0.02)
    for one, other in zip(verdict.ranked, verdict.ranked[1:], strict=False):
        ratio = math.exp((one.weight - other.weight) / TEMPERATURE)
        assert one.score == pytest.approx(other.score * ratio, abs=1e-3 * max(1.0, ratio))


def _nats(clue: Clue, known: Facts) -> float:
    answer = ask(clue, known)
    nats = {True: clue.weight, False: clue.otherwise, None: 0.0}[answer.holds]
    return nats if answer.sure else WEAK * nats


@given(findings_of_all_kinds)
@settings(max_examples=100)
def test_who_leads(findings: list[Detection | Event]) -> None:
    """The leading cause stands first, explains what the incident was opened for, and weighs enough; else `unknown`."""
    known = facts(*findings, tracks=CALM)
    verdict = diagnose(known, CAUSES)
    assert verdict.ranked[0].cause == verdict.cause.cause
    assert verdict.confidence == verdict.ranked[0].score
    assert [one.score for one in verdict.ranked[1:]] == sorted((one.score for one in verdict.ranked[1:]), reverse=True)
    enough = [cause for cause in CAUSES if weigh(cause, known).candidate and weigh(cause, known).weight >= ENOUGH]
    assert (verdict.cause.cause == UNKNOWN) == (not enough)
    if enough:
        assert explains(verdict.cause, findings[0])
        assert all(weigh(verdict.cause, known).weight >= weigh(cause, known).weight for cause in enough)


def test_unknown_leads_where_nothing_weighs_enough() -> None:
    """A cause that is only a little believed in is told with its share, but does not give the incident its name."""
    weak = a_cause("weak", Clue(moved="loss", weight=0.9))
    verdict = diagnose(facts(a_detection("loss")), (weak, NOBODY_KNOWS))
    assert verdict.cause is NOBODY_KNOWS
    assert [one.cause for one in verdict.ranked] == [UNKNOWN, "weak"]
    assert verdict.confidence < 0.5
    assert verdict.evidence[0].status == "unknown"


def test_unknown_always_holds_its_share() -> None:
    """However well something is explained, that it is something else stays possible."""
    sure = a_cause("sure", Clue(moved="loss", weight=4.0))
    [first, second] = diagnose(facts(a_detection("loss")), (sure, NOBODY_KNOWS)).ranked
    assert (first.cause, second.cause) == ("sure", UNKNOWN)
    assert second.score == pytest.approx(1 / (1 + math.exp(4.0 / TEMPERATURE)), abs=1e-4)


def test_weights_beyond_reason_do_not_break_the_shares() -> None:
    """A cause file with an enormous weight gives a share of one and no overflow."""
    sure = a_cause("sure", Clue(moved="loss", weight=1e6))
    assert [one.score for one in diagnose(facts(a_detection("loss")), (sure, NOBODY_KNOWS)).ranked] == [1.0, 0.0]


def test_the_seed_has_to_be_explained() -> None:
    """A cause with all its marks is no candidate for an incident that was opened for something else."""
    spike = a_detection("loss", "spike")
    assert named(*STORAGE, seed=STORAGE[0], tracks=CALM) == "loader_starved_by_storage"
    assert named(spike, *STORAGE, seed=spike, tracks=CALM) == "loss_spike"


def test_what_is_needed_is_needed() -> None:
    """Without a clue that is needed a cause is no candidate, whatever else speaks for it; unseen is not enough."""
    cause = a_cause("x", Clue(moved="loss", weight=1.0, needed=True), Clue(moved="grad_norm", weight=5.0))
    with_it = facts(a_detection("loss"), a_detection("grad_norm"), seed=None)
    without = facts(a_detection("grad_norm"), seed=None)
    assert (weigh(cause, with_it).candidate, weigh(cause, without).candidate) == (True, False)


def test_what_is_not_seen_moves_nothing() -> None:
    """A signal that nobody sends speaks neither for nor against, and is told as what could not be seen."""
    cause = a_cause("x", Clue(moved="loss", weight=2.0), Clue(moved="iowait", weight=3.0, otherwise=-3.0))
    known = facts(a_detection("loss"))
    assert weigh(cause, known).weight == 2.0
    blind = [one for one in diagnose(known, (cause, NOBODY_KNOWS)).evidence if one.status == "unknown"]
    assert [(one.text, one.weight) for one in blind] == [("iowait was not seen", 0.0)]


def test_a_move_that_no_detector_has_raised_counts_for_less() -> None:
    """What is read off the values moves the belief by seven tenths, and is supported, not established."""
    cause = a_cause("x", Clue(moved="loss", weight=2.0))
    known = facts(a_detection("grad_norm"), tracks={"loss": a_track(3.0, normal=2.0)}, seed=None)
    verdict = diagnose(known, (cause, NOBODY_KNOWS))
    assert verdict.evidence[0].weight == pytest.approx(2.0 * WEAK)
    assert verdict.evidence[1].status == "supported"


def test_evidence_says_for_and_against() -> None:
    """Each statement has its weight and says whether it speaks for or against the leading cause."""
    verdict = diagnose(facts(*STORAGE, slow(1, part="loader"), tracks=CALM), CAUSES)
    assert all(one.speaks_for == (one.weight >= 0) for one in verdict.evidence if one.status != "unknown")
    known = {one.id for one in (*STORAGE, slow(1, part="loader"))}
    assert {one.source for one in verdict.evidence if one.source} <= known


def test_what_moved_along_is_told_once_for_each_signal() -> None:
    """Findings that no clue asks for are cascade, one statement for each signal and subject."""
    jumps = [a_detection("mfu", direction="down", onset_step=100 + n) for n in range(3)]
    verdict = diagnose(facts(*STORAGE, *jumps), CAUSES)
    cascade = [one for one in verdict.evidence if one.role == "cascade"]
    assert [one.text for one in cascade if one.text.startswith("mfu")] == ["mfu moved (and 2 more)"]


@pytest.mark.parametrize("cause", ["numeric_blow_up", "slow_gpu", "loader_starved_by_host_cpu"])
def test_what_was_ruled_out_is_told_with_numbers(cause: str) -> None:
    """Causes that are always asked for say which numbers speak against them."""
    calm = {**CALM, "loss": a_track(2.31, normal=2.3), "grad_norm": a_track(0.3, normal=0.3)}
    verdict = diagnose(facts(*STORAGE, tracks=calm), CAUSES)
    because = {one.cause: one.because for one in verdict.ruled_out}
    assert re.search(r"\d", because[cause]), because[cause]


@given(findings_of_all_kinds)
@settings(max_examples=50)
def test_nothing_is_ruled_out_that_is_believed_in(findings: list[Detection | Event]) -> None:
    """What leads or could lead is not among the causes that were ruled out, and each of these has a reason."""
    known = facts(*findings, tracks=CALM)
    verdict = diagnose(known, CAUSES)
    believed = {one.cause for one in verdict.ranked if one.weight >= ENOUGH}
    assert not believed & {one.cause for one in verdict.ruled_out}
    assert all(one.because for one in verdict.ruled_out)


def test_what_opens_an_incident() -> None:
    """A finding opens one only if some cause says so: a warm GPU alone pages nobody."""
    assert opens(CAUSES, STORAGE[0])
    assert opens(CAUSES, an_event("xid", data={"code": 79}))
    assert not opens(CAUSES, an_event("xid", data={"code": 13}))
    assert not opens(CAUSES, a_detection("storage_latency_seconds"))
    assert not opens(CAUSES, an_event("log.line"))


@pytest.mark.parametrize(
    ("finding", "explained"),
    [
        (a_detection("step_seconds"), True),
        (a_detection("storage_latency_seconds"), True),
        (a_detection("disk_util"), True),
        (a_detection("loss", "spike"), False),
        (an_event("storage.error"), True),
        (an_event("rank.exit"), False),
    ],
)
def test_what_a_cause_explains(finding: Detection | Event, explained: bool) -> None:
    """A cause explains what its clues ask for and what it moves along, and nothing else."""
    storage = next(cause for cause in CAUSES if cause.cause == "loader_starved_by_storage")
    assert explains(storage, finding) is explained


def test_a_teardown_is_explained_by_what_brings_the_job_down() -> None:
    """When a GPU falls off the bus, ranks exit and collectives time out."""
    failed = next(cause for cause in CAUSES if cause.cause == "gpu_failed")
    assert explains(failed, an_event("nccl.timeout"))
    assert named(an_event("xid", data={"code": 79}), an_event("nccl.timeout"), an_event("rank.exit")) == "gpu_failed"


def test_nothing_found_is_nothing_known() -> None:
    """Without any finding there is nothing but `unknown`, and nobody is a suspect."""
    verdict = diagnose(facts(onset_time=ONSET), CAUSES)
    assert (verdict.cause.cause, verdict.suspects) == (UNKNOWN, ())
