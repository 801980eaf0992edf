"""JSON Schemas for readers in other languages: they are what the records are."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from msgspec import Struct, structs

import schemas
from playbooks.load import load_causes, load_playbooks
from schemas.action import Control, Request, Result, Setting, TaintRecord
from schemas.codec import encode
from schemas.dead import DeadLetter
from schemas.json_schemas import files, schema_of
from schemas.telemetry import StepFrame, Telemetry, Tick
from schemas.topics import TOPICS, topic_named
from streams.agents.simulated import simulate
from streams.line import Line
from streams.replay import replay
from streams.topology import topology
from tests.schemas.records import NOW, any_telemetry, plain_event, plain_samples, plain_step

FOLDER = Path(schemas.__file__).parent / "json"
SENT = [topic for topic in TOPICS if topic.key]
BY_HAND: dict[str, list[Struct]] = {
    "requests": [
        Request(
            id="r",
            incident="i",
            job="j",
            attempt=1,
            playbook="p",
            action="notify",
            target="j",
            decision="act",
            time=NOW,
        )
    ],
    "results": [
        Result(request="r", incident="i", job="j", attempt=1, action="notify", outcome="done", time=NOW),
        Result(request="r", incident="i", job="j", attempt=1, action="notify", outcome="failed", detail="no", time=NOW),
    ],
    "control": [
        Control(job="j", attempt=1, version=0),
        Control(
            job="j",
            attempt=1,
            version=3,
            settings={
                "loader.path": Setting(value="cache", request="r"),
                "checkpoint.defer_until_step": Setting(value=18_600, request="s"),
            },
        ),
    ],
    "taints": [
        TaintRecord(
            id="t",
            job="j",
            attempt=1,
            from_step=1,
            to_step=2,
            reason="",
            incident="i",
            confidence=0.9,
            layer="data",
            time=NOW,
        )
    ],
    "dead": [
        DeadLetter(reason="schema", path="$.step", detail="", source="s", offset=1, line=0, raw=b"\xff{", time=NOW)
    ],
    "telemetry": [Tick(time=NOW)],
}


def errors(topic: str, plain: Any) -> list[str]:  # Any: a record or none
    """What the schema of a stream says against a piece of plain data."""
    validator = Draft202012Validator(schema_of(topic_named(topic)))
    return [error.message for error in validator.iter_errors(plain)]


@pytest.fixture(scope="module")
def said() -> dict[str, list[Any]]:  # Any: plain data
    """Everything the line reads and says in a run that goes wrong, by stream."""
    causes = load_causes()
    by_topic: dict[str, list[Any]] = {}
    for scenario in ("nan", "thermal"):
        lines = list(simulate(scenario, 1, defects=True))
        outcome = replay(Line(topology(causes, load_playbooks(causes=causes))), lines)
        by_topic.setdefault("telemetry", []).extend(json.loads(line) for line in lines[::40])
        for sent in outcome.said[-2000:]:
            by_topic.setdefault(sent.topic, []).append(json.loads(encode(sent.record)))
    return by_topic


def test_the_files_are_up_to_date() -> None:
    """What stands in the folder is what the records say: `make schemas` was run after the last change."""
    assert {path.name: path.read_bytes() for path in FOLDER.glob("*.json")} == files()


@pytest.mark.parametrize("topic", SENT, ids=lambda topic: topic.name)
def test_a_schema_is_one(topic: Any) -> None:  # Any: pytest gives a Topic
    """Each file is a schema by the rules of JSON Schema, with the name and the meaning of its stream."""
    schema = schema_of(topic)
    Draft202012Validator.check_schema(schema)
    assert (schema["title"], schema["description"]) == (topic.name, topic.meaning)
    assert schema["$id"].endswith(f"{topic.name}.json")


@pytest.mark.parametrize("topic", ["telemetry", "detections", "vitals", "incidents", "requests"])
def test_what_is_said_is_valid(topic: str, said: dict[str, list[Any]]) -> None:
    """Records of real runs, numbers that are none included, hold what their schema promises."""
    assert said[topic]
    validator = Draft202012Validator(schema_of(topic_named(topic)))
    for plain in said[topic][-300:]:
        validator.validate(plain)


def test_the_words_for_no_number_are_among_them(said: dict[str, list[Any]]) -> None:
    """The runs above hold NaN, or the test above would show nothing."""
    assert any(vitals["values"].get("loss") == "NaN" for vitals in said["vitals"])
    assert any(frame.get("job_values", {}).get("loss") == "NaN" for frame in said["telemetry"])


@pytest.mark.parametrize("topic", sorted(BY_HAND))
def test_what_runners_send_is_valid(topic: str) -> None:
    """Records that no stage makes hold what their schema promises, too."""
    for record in BY_HAND[topic]:
        assert errors(topic, json.loads(encode(record))) == []


@given(any_telemetry)
@settings(max_examples=60, deadline=None)
def test_any_telemetry_is_valid(record: Telemetry) -> None:
    """Whatever record can be made is valid when written."""
    assert errors("telemetry", json.loads(encode(record))) == []


def _broken() -> Iterator[tuple[str, dict[str, Any]]]:  # Any: plain data
    yield "no step", {key: value for key, value in plain_step().items() if key != "step"}
    yield "a step in quotes", plain_step(step="7")
    yield "a reading that is a word", plain_step(values={"a": [1.0, "fast"]})
    yield "the small word for NaN, which only readers accept", plain_step(job_values={"loss": "nan"})
    yield "a kind that is none", plain_event(kind="metrics")
    yield "an empty job", plain_event(job="")
    yield "samples of nothing known", plain_samples(of="rack")
    yield "a count below zero", plain_samples(seq=-1)


@pytest.mark.parametrize("plain", [pytest.param(plain, id=name) for name, plain in _broken()])
def test_what_is_wrong_is_refused(plain: dict[str, Any]) -> None:  # Any: plain data
    """A schema that accepted everything would promise nothing."""
    assert errors("telemetry", plain)


def test_unknown_fields_are_allowed() -> None:
    """A newer record is valid for an older reader."""
    assert errors("telemetry", plain_event(colour="red")) == []


def test_each_word_is_valid_where_readings_stand() -> None:
    """All three words, null and numbers may stand among a rank's and a job's readings."""
    readings = [math.nan, math.inf, -math.inf, None, 1.0]
    frame = StepFrame(
        job="j", attempt=1, node="n", seq=0, time=NOW, step=1, ranks=[0, 1, 2, 3, 4], values={"a": readings}
    )
    frame = structs.replace(frame, job_values={str(number): reading for number, reading in enumerate(readings)})
    assert errors("telemetry", json.loads(encode(frame))) == []
