"""The form each sink gives a notice: limits kept, names harmless, nothing essential lost."""

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

import playbooks.sinks
from playbooks.ports import Kind
from playbooks.sinks import pagerduty, slack
from playbooks.sinks.catalogue import SINKS
from playbooks.sinks.cloud_event import MOST_BYTES, structured
from playbooks.sinks.message import MOST_CHARACTERS, message
from playbooks.sinks.notice import Locale, Notice
from playbooks.sinks.phrases import CHINESE, ENGLISH, LANGUAGES
from schemas.incident import Affected, Evidence, Incident
from tests.actions.samples import an_entry, an_incident

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400)
numbers = st.integers(0, 5000)


@st.composite
def incidents(draw: st.DrawFn) -> Incident:
    """Incidents with long and hostile names, many ranks and much evidence."""
    many = draw(numbers)
    return an_incident(
        title=draw(texts),
        cause=draw(texts),
        job=draw(texts)[:256],
        severity=draw(st.sampled_from(["warning", "error", "critical"])),
        ranks=tuple(range(many)),
        nodes=tuple(draw(st.lists(texts, max_size=20))),
        affected=Affected(ranks=tuple(range(draw(numbers))), nodes=tuple(f"n{n}" for n in range(many))),
        evidence=tuple(
            Evidence(status="supported", text=text * 10, layer="data") for text in draw(st.lists(texts, max_size=30))
        ),
        actions=tuple(an_entry(target=text, detail=text) for text in draw(st.lists(texts, max_size=8))),
        detections=tuple(f"d{n}" for n in range(many)),
    )


@st.composite
def notices(draw: st.DrawFn) -> Notice:
    """Notices of such incidents in any language."""
    kinds: list[Kind] = ["opened", "changed", "resolved"]
    return Notice(
        incident=draw(incidents()),
        kind=draw(st.sampled_from(kinds)),
        link=draw(st.sampled_from(["", "http://tm/#incident=1|2>3"])),
        locale=draw(st.sampled_from(list(LANGUAGES))),
        sent_at=1000.0,
    )


def a_notice(kind: Kind = "opened", locale: Locale = "en", **changed: object) -> Notice:
    """News of the brief's incident, changed."""
    return Notice(incident=an_incident(**changed), kind=kind, link="http://tm/", locale=locale, sent_at=1000.0)


def test_no_sink_is_missing() -> None:
    """Every class in the folder that sends stands in the catalogue."""
    folder = Path(next(iter(playbooks.sinks.__path__)))
    senders = {
        node.name
        for path in folder.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name != "Sink"
        for part in node.body
        if isinstance(part, ast.AsyncFunctionDef) and part.name == "send"
    }
    assert senders == {getattr(kind.make, "__name__", "") for kind in SINKS.values()}


WANTED = (
    "[ERROR] wm-64: data input stalls since step 18,046",
    "Job wm-64, attempt 1, open: nobody in particular to blame; 64 ranks on 8 nodes affected",
    "Since step 18,046, 2025-03-03 00:00:00 UTC",
    "• storage retries 0.2 → 58",
    "• loader share 3 % → 25 %",
    "• tokens/s 1.02M → 690k",
    "Cause: loader_starved_by_storage (82% sure); next best: host_cpu (9%)",
    "Action loader.use_cache on wm-64: done, being verified",
    "Lost so far: 12.4 GPU-hours",
    "Contaminated steps: 18,046 to 18,600",
)


def test_the_message_reads_from_what_to_what_it_costs() -> None:
    """An operator reads severity, whom, since when, the surest numbers, the cause, what was done, and the cost."""
    told = message(a_notice(actions=(an_entry(outcome="done", verification="waiting"),)))
    assert (told.headline, *told.lines) == WANTED


def test_the_first_three_are_named() -> None:
    """Of many culprits three are named and the rest is counted."""
    told = message(a_notice(nodes=("n01", "n02", "n03", "n04"), ranks=tuple(range(32))))
    assert "nodes n01, n02, n03 and 1 more, ranks 0, 1, 2 and 29 more" in told.lines[0]


STATES: dict[str, tuple[dict[str, object], str]] = {
    "proposed": ({"decision": "asked", "reason": "asked"}, "waits for approval"),
    "only observed": ({"decision": "would_act", "reason": "observe"}, "observing only"),
    "not done": ({"decision": "refused", "reason": "cooldown"}, "not done (cooldown)"),
    "failed": ({"outcome": "failed"}, "failed"),
    "verified": ({"outcome": "done", "verification": "verified"}, "done, verified: the job recovered"),
}


@pytest.mark.parametrize(("entry", "words"), STATES.values(), ids=STATES)
def test_the_state_of_an_action_is_told(entry: dict[str, object], words: str) -> None:
    """Proposed, not done, failed and verified are told apart."""
    assert any(words in line for line in message(a_notice(actions=(an_entry(**entry),))).lines)


def test_the_end_is_told() -> None:
    """A message of the end says so first, with the last step and the whole loss."""
    told = message(a_notice("resolved", state="resolved", end_step=18330, end_time=1_740_960_330.0))
    assert told.headline.startswith("[RESOLVED] wm-64")
    assert any("until step 18,330, 2025-03-03 00:05:30 UTC" in line for line in told.lines)
    assert any(line.startswith("Lost in all") for line in told.lines)


def test_both_languages_say_the_same() -> None:
    """Each language has a word for everything, and fills in the same numbers."""
    for name in structs.fields(ENGLISH):
        one, other = getattr(ENGLISH, name.name), getattr(CHINESE, name.name)
        if isinstance(one, dict):
            assert one.keys() == other.keys(), name.name
        else:
            assert set(re.findall(r"\{\w+\}", one)) == set(re.findall(r"\{\w+\}", other)), name.name
    told = message(a_notice(locale="zh"))
    assert told.headline.startswith("[错误] wm-64")
    assert len(told.lines) == len(message(a_notice()).lines)


@given(notice=notices())
@settings(max_examples=60, deadline=None)
def test_lines_stay_short(notice: Notice) -> None:
    """Whatever names an incident holds, each line is one line of at most 300 characters."""
    told = message(notice)
    assert all(len(line) <= MOST_CHARACTERS and line.splitlines()[1:] == [] for line in (told.headline, *told.lines))


@given(notice=notices())
@settings(max_examples=60, deadline=None)
def test_slack_keeps_its_limits(notice: Notice) -> None:
    """Blocks, sections and header stay within what Slack accepts, and no name becomes a mention or a link."""
    form = slack.payload(notice)
    blocks = form["blocks"]
    assert isinstance(blocks, list)
    assert len(blocks) <= slack.MOST_BLOCKS
    assert form["text"]
    for block in blocks:
        most = slack.MOST_IN_HEADER if block["type"] == "header" else slack.MOST_IN_SECTION
        text = block["text"]["text"]
        assert 0 < len(text) <= most
        bare = text.removeprefix("<http://tm/#incident=1%7C2&gt;3|") if block is blocks[-1] else text
        assert "<" not in bare
        assert re.search(r"&(?!(amp|lt|gt);)", text) is None


@given(notice=notices())
@settings(max_examples=60, deadline=None)
def test_pagerduty_keeps_its_limits(notice: Notice) -> None:
    """Summary and key stay within what PagerDuty accepts, as does the whole event."""
    form = pagerduty.payload(notice)
    payload = form["payload"]
    assert isinstance(payload, dict)
    assert len(payload["summary"]) <= pagerduty.MOST_IN_SUMMARY
    assert len(str(form["dedup_key"])) <= pagerduty.MOST_IN_KEY
    assert len(json.dumps(form)) < 512_000


@given(notice=notices())
@settings(max_examples=60, deadline=None)
def test_an_event_stays_small(notice: Notice) -> None:
    """Whatever an incident holds, the event is smaller than 20 kB, still says which incident, and is JSON."""
    body = structured(notice)
    assert len(body) < MOST_BYTES
    assert json.loads(body)["data"]["incident"]["id"] == notice.incident.id


def test_a_shortened_event_says_so() -> None:
    """What was left out is counted, and the surest evidence still stands in the lines."""
    evidence = tuple(Evidence(status="supported", text="x" * 400, layer="data") for _ in range(200))
    data = json.loads(structured(a_notice(evidence=evidence)))["data"]
    assert data["shortened"]["of"]["evidence"] == 200
    assert len(data["incident"]["evidence"]) == data["shortened"]["kept"] > 0
    assert data["lines"]


def test_a_whole_event_says_nothing_of_shortening() -> None:
    """An ordinary incident travels whole."""
    data = json.loads(structured(a_notice()))["data"]
    assert "shortened" not in data
    assert len(data["incident"]["evidence"]) == len(an_incident().evidence)
