"""The post-mortem: timeline, evidence, costs, and the proposed change."""

import math

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from playbooks.actions.postmortem import postmortem
from playbooks.actions.threshold import as_yaml, propose
from playbooks.actions.timeline import timeline
from playbooks.playbook import When
from schemas.incident import Evidence, Incident
from tests.actions.samples import ONSET, a_detection, an_entry, an_incident


def the_course() -> list[Incident]:
    """The incident of the brief from its opening to its end."""
    asked = an_entry(decision="asked", reason="asked")
    acting = an_entry(outcome="pending")
    healed = an_entry(outcome="done", verification="verified", detail="tokens/s 1.01M, 99 % of the baseline")
    taint = an_incident().taint
    assert taint is not None
    marked = msgspec.structs.replace(taint, marked=True)
    return [
        an_incident(revision=1, severity="warning", cause="unknown", confidence=0.3, updated_time=ONSET + 60),
        an_incident(revision=2, updated_time=ONSET + 120, actions=(asked,)),
        an_incident(revision=3, state="acting", updated_time=ONSET + 290, actions=(acting,), acknowledged_by="night"),
        an_incident(
            revision=4,
            state="acting",
            updated_time=ONSET + 300,
            actions=(acting,),
            acknowledged_by="night",
            gpu_hours_lost=13.0,
        ),
        an_incident(
            revision=5,
            state="resolved",
            updated_time=ONSET + 340,
            end_time=ONSET + 330,
            end_step=18330,
            actions=(healed,),
            taint=marked,
            acknowledged_by="night",
            gpu_hours_lost=14.2,
        ),
    ]


def test_the_timeline_tells_every_turn_once() -> None:
    """Severity, cause, decisions, outcomes, verification and states appear in order, and mere numbers do not."""
    told = [moment.text for moment in timeline(the_course())]
    assert told == [
        "began at step 18,046",
        "recognised as unknown (30%), severity warning",
        "severity warning → error",
        "cause unknown → loader_starved_by_storage (82%)",
        "loader.use_cache on wm-64: asked (asked, loader-to-nvme-cache)",
        "taken by night",
        "loader.use_cache on wm-64: act (act, loader-to-nvme-cache)",
        "loader.use_cache on wm-64: pending",
        "open → acting, 12.4 GPU-hours lost so far",
        "loader.use_cache on wm-64: done (tokens/s 1.01M, 99 % of the baseline)",
        "loader.use_cache on wm-64: verification verified (tokens/s 1.01M, 99 % of the baseline)",
        "steps 18,046 to 18,600 marked as contaminated",
        "acting → resolved, 14.2 GPU-hours lost so far",
    ]
    times = [moment.time for moment in timeline(the_course())]
    assert times == sorted(times)


PARTS = (
    "# Post-mortem: data input stalls since step 18,046",
    "2025-03-03 00:00:00 UTC",
    "wm-64, attempt 1, cluster default",
    "step 18,330, 2025-03-03 00:05:30 UTC",
    "1 job, 8 nodes, 64 ranks",
    "## Cause: loader_starved_by_storage (82%, layer storage)",
    "| host_cpu | 9% |",
    "storage retries 0.2 → 58 (established, layer system)",
    "loss 2.31 → 2.34 (+1 %) (supported, layer loss)",
    "no NCCL readings",
    "kernel_regression: compute time 0.92 s → 0.92 s",
    "| done | verified |",
    "14.2 GPU-hours",
    "stand in the ledger; 2 checkpoints written inside",
    "above: 5.8",
)


@pytest.mark.parametrize("part", PARTS)
def test_the_document_holds(part: str) -> None:
    """What the review needs stands in the document, with its numbers."""
    assert part in postmortem(the_course(), [a_detection()])


def test_evidence_stands_on_its_side() -> None:
    """What speaks against the cause is not listed among what speaks for it."""
    text = postmortem(the_course(), [])
    speaking, _, rest = text.partition("### Evidence against")
    assert "loss 2.31" not in speaking
    assert "loss 2.31" in rest
    assert "storage retries 0.2" not in rest


def test_without_storage_figures_it_says_so() -> None:
    """No threshold is invented for an incident in which no storage retries were seen."""
    loader = a_detection(id="d-loader", signal="loader_share", before=0.03, after=0.25)
    text = postmortem(the_course(), [loader])
    assert "no storage figures" in text
    assert "```yaml" not in text


def test_the_first_moments_say_so_too() -> None:
    """An incident of one revision, without evidence, actions or end, still gives a whole document."""
    bare = Incident(
        id="i1",
        revision=0,
        job="j",
        attempt=1,
        state="open",
        severity="warning",
        cause="unknown",
        layer="unknown",
        confidence=0.0,
        onset_time=ONSET,
        opened_time=ONSET,
        updated_time=ONSET,
    )
    text = postmortem([bare], [])
    assert "not ended" in text
    assert text.count("None.") == 6


FIGURES: dict[str, tuple[float, float]] = {
    "from the brief": (0.2, 57.8),
    "a healthy rate of zero": (0.0, 40.0),
    "small": (0.001, 0.02),
    "large": (900.0, 1e6),
}


@pytest.mark.parametrize(("healthy", "met"), FIGURES.values(), ids=FIGURES)
def test_the_threshold_lies_between(healthy: float, met: float) -> None:
    """The proposal is above what is healthy and below what the incident brought, and is computed from both."""
    proposal = propose(an_incident(), [a_detection(before=healthy, after=met)])
    assert proposal is not None
    assert healthy < proposal.above < met
    floor = max(healthy, met / 100)
    assert math.isclose(proposal.above, math.sqrt(floor * met), rel_tol=0.06)


@given(healthy=st.floats(0, 1e6), ratio=st.floats(1.001, 1e6))
def test_a_proposal_would_have_fired(healthy: float, ratio: float) -> None:
    """Whatever the numbers, the proposed threshold would have fired in this incident and is silent when healthy."""
    met = max(healthy, 1e-3) * ratio
    proposal = propose(an_incident(), [a_detection(before=healthy, after=met)])
    assert proposal is not None
    assert healthy < proposal.above < met


def test_the_snippet_is_a_condition_of_a_playbook() -> None:
    """The YAML can be put into a playbook as it is: its condition is read by the playbook's own type."""
    proposal = propose(an_incident(actions=(an_entry(),)), [a_detection()])
    assert proposal is not None
    snippet = yaml.safe_load(as_yaml(proposal))
    when = msgspec.convert(snippet["when"], When)
    assert (when.all[0].signal, when.all[0].above) == ("storage_retries_total", proposal.above)
    assert snippet["playbook"] == "loader-to-nvme-cache"


def test_the_proposal_says_how_much_earlier() -> None:
    """The lead is counted from the detection of the retries to the first action on the job, messages not counted."""
    told = an_entry(playbook="tell-people", action="notify", time=ONSET + 10, step=18055, request="r-notify")
    proposal = propose(an_incident(actions=(told, an_entry())), [a_detection()])
    assert proposal is not None
    assert (proposal.playbook, proposal.earlier_seconds, proposal.earlier_steps) == ("loader-to-nvme-cache", 282.0, 238)


USELESS: dict[str, dict[str, object]] = {
    "no numbers": {"before": None},
    "not finite": {"after": math.inf},
    "a fall": {"before": 58.0, "after": 1.0},
    "another signal": {"signal": "storage_latency_seconds"},
}


@pytest.mark.parametrize("changed", USELESS.values(), ids=USELESS)
def test_useless_figures_are_no_figures(changed: dict[str, object]) -> None:
    """A detection that holds no rise in retries leads to no proposal."""
    assert propose(an_incident(), [a_detection(**changed)]) is None


@given(text=st.text(max_size=200))
def test_no_name_breaks_out_of_the_document(text: str) -> None:
    """A name or message from telemetry becomes neither a table cell nor a heading nor HTML."""
    hostile = f"{text}|\n# {text}\n<script>"
    incident = an_incident(
        title=hostile,
        actions=(an_entry(detail=hostile, target=hostile),),
        evidence=(Evidence(status="supported", text=hostile, layer="data"),),
    )
    written = postmortem([incident], [])
    assert "<script" not in written
    rows = [line for line in written.splitlines() if line.startswith("|")]
    widths = {line.replace("\\|", "").count("|") for line in rows}
    assert widths <= {3, 9}
    headings = [line for line in written.splitlines() if line.startswith("#")]
    assert len(headings) == len([line for line in postmortem([an_incident()], []).splitlines() if line.startswith("#")])
