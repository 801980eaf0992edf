"""Records that cannot be read: each has its reason and its field, and takes no neighbour with it."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from schemas.codec import BadRecord, decode, decode_all
from schemas.telemetry import Event
from tests.schemas.records import LARGEST_COUNT, NOW, plain_event, plain_samples, plain_step


def fault_of(raw: bytes, **limits: int) -> BadRecord:
    """The fault that a record is refused with."""
    with pytest.raises(BadRecord) as refused:
        decode(raw, **limits)
    return refused.value


def nested(depth: int) -> Any:  # Any: a list in a list in a list
    """Lists inside each other."""
    inner: list[object] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def without(record: dict[str, Any], name: str) -> dict[str, Any]:
    """A record that lacks a field."""
    return {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(b"", "malformed", id="nothing"),
        pytest.param(b"\x00", "malformed", id="a zero byte"),
        pytest.param(b"step=17980 token_s=1.02M", "malformed", id="a log line"),
        pytest.param(b'{"kind":"steps"', "malformed", id="cut off"),
        pytest.param(b"{'kind':'steps'}", "malformed", id="Python's quotes"),
        pytest.param(b"[]", "malformed", id="an array"),
        pytest.param(b"17", "malformed", id="a number"),
        pytest.param(b"null", "malformed", id="null"),
        pytest.param(b'"steps"', "malformed", id="a word"),
        pytest.param(b'{"kind":"steps","job":"\xff"}', "malformed", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "malformed", id="nested without end"),
        pytest.param(b'{"a":' * 100_000, "malformed", id="objects without end"),
        pytest.param(b"\x82\xa4kind", "malformed", id="MessagePack cut off"),
        pytest.param(b"\xdf\xff\xff\xff\xff", "malformed", id="MessagePack that claims four billion fields"),
        pytest.param(b"\x81\x80\x01", "malformed", id="MessagePack with a map as key"),
        pytest.param(msgspec.msgpack.encode({1: 2}), "kind", id="MessagePack with a number as key"),
        pytest.param(b"{}", "kind", id="no kind"),
    ],
)
def test_what_is_no_record(raw: bytes, reason: str) -> None:
    """Bytes that hold no record are refused whole, and the bytes are kept for the dead letter."""
    fault = fault_of(raw)
    assert fault.reason == reason
    assert fault.raw == raw
    assert fault.detail


SCHEMA: list[tuple[str, dict[str, Any], str]] = [  # Any: fields, well-formed or not
    ("a job without a name", plain_step(job=""), "$.job"),
    ("a job that is a number", plain_step(job=7), "$.job"),
    ("a name of 257 characters", plain_step(node="n" * 257), "$.node"),
    ("no job", without(plain_step(), "job"), ""),
    ("no step", without(plain_step(), "step"), ""),
    ("a step in quotes", plain_step(step="7"), "$.step"),
    ("a step that is no whole number", plain_step(step=7.5), "$.step"),
    ("a step below zero", plain_step(step=-1), "$.step"),
    ("a step beyond what JSON readers can count", plain_step(step=LARGEST_COUNT + 1), "$.step"),
    ("a sequence number below zero", plain_step(seq=-1), "$.seq"),
    ("an attempt that is true", plain_step(attempt=True), "$.attempt"),
    ("a rank below zero", plain_step(ranks=[0, -1]), "$.ranks[1]"),
    ("a rank that stands twice", plain_step(ranks=[1, 1]), ""),
    ("frames every 0 steps", plain_step(every=0), "$.every"),
    ("a reading that is a word", plain_step(values={"step_seconds": [1.0, "fast"]}), "$.values.step_seconds[1]"),
    ("a reading that is true", plain_step(values={"a": [1.0, 1.0], "b": [True, 1.0]}), "$.values.b[0]"),
    ("a reading that is a list", plain_step(values={"a": [1.0, [1.0]]}), "$.values.a[1]"),
    ("readings that are no list", plain_step(values={"a": 1.0}), "$.values.a"),
    ("a value of the job that is a word", plain_step(job_values={"loss": "high"}), "$.job_values.loss"),
    ("a value of the job that is a list", plain_step(job_values={"grad_norm": [1.0]}), "$.job_values.grad_norm"),
    ("values that are a list", plain_step(values=[1.0]), "$.values"),
    ("fewer readings than ranks", plain_step(values={"step_seconds": [1.0]}), ""),
    ("readings without ranks", plain_step(ranks=[]), ""),
    ("a time in milliseconds", plain_event(time=NOW * 1000), ""),
    ("a time before all time", plain_event(time=-1.0), ""),
    ("a time that is a word", plain_event(time="NaN"), "$.time"),
    ("a time that is missing", without(plain_event(), "time"), ""),
    ("an arrival in milliseconds", plain_event(received=NOW * 1000), ""),
    ("an event without a word", plain_event(event=""), "$.event"),
    ("data that are a list", plain_event(data=[]), "$.data"),
    ("data nested too deeply", plain_event(data={"a": nested(40)}), ""),
    ("samples of nothing known", plain_samples(of="rack"), "$.of"),
    ("a sample of a nameless thing", plain_samples(ids=["GPU-1", ""]), "$.ids[1]"),
    ("ranks for some of the ids", plain_samples(ranks=[0]), ""),
    ("fewer samples than ids", plain_samples(values={"gpu_util": [0.9]}), ""),
    ("a tick every 0 seconds", {"kind": "tick", "time": NOW, "every": 0.0}, "$.every"),
    ("a tick in milliseconds", {"kind": "tick", "time": NOW * 1000}, ""),
]


@pytest.mark.parametrize(("record", "path"), [pytest.param(record, path, id=name) for name, record, path in SCHEMA])
@pytest.mark.parametrize("form", ["JSON", "MessagePack"])
def test_a_field_that_is_wrong_is_named(record: dict[str, Any], path: str, form: str) -> None:
    """A record with one wrong field is refused as `schema`, with the path where the fault has one place."""
    raw = json.dumps(record).encode() if form == "JSON" else msgspec.msgpack.encode(record)
    fault = fault_of(raw)
    assert (fault.reason, fault.path) == ("schema", path)


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    """JSON can write it and MessagePack cannot, so no snapshot could hold it."""
    for number in (1 << 64, -(1 << 63) - 1):
        fault = fault_of(json.dumps(plain_event(data={"codes": [number]})).encode())
        assert (fault.reason, fault.detail) == ("schema", "data: a number of more than 64 bits")


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        pytest.param("kind", "kind", "metrics", id="an unknown kind"),
        pytest.param("kind", "kind", None, id="a kind that is null"),
        pytest.param("kind", "kind", ["steps"], id="a kind that is a list"),
        pytest.param("version", "v", 2, id="the next version"),
        pytest.param("version", "v", 0, id="no version at all"),
        pytest.param("version", "v", "1", id="a version in quotes"),
        pytest.param("version", "v", 1 << 70, id="a version beyond all bounds"),
    ],
)
def test_kind_and_version_have_their_own_reasons(kind: str, field: str, value: object) -> None:
    """What this reader does not speak is told apart from what is written wrongly, whatever else is wrong with it."""
    for record in (plain_step(**{field: value}), plain_step(**{field: value}, step="x")):
        fault = fault_of(json.dumps(record).encode())
        assert (fault.reason, fault.path) == (kind, f"$.{field}")


def test_a_length_that_does_not_fit_names_signal_and_counts() -> None:
    """The message says which signal has how many readings for how many ranks."""
    fault = fault_of(json.dumps(plain_step(values={"step_seconds": [1.0, 1.1], "wait_seconds": [0.2]})).encode())
    assert fault.detail == "values.wait_seconds: 1 readings for 2 ranks"


@pytest.mark.parametrize("size", [64, 1024])
def test_an_oversized_record_is_not_read(size: int) -> None:
    """The limit is the record's own, to the byte, and a larger record is refused before anything reads it."""
    raw = json.dumps(plain_event(text="x" * 2000)).encode()
    assert fault_of(raw, limit=size).reason == "oversized"
    assert fault_of(b"\xff" * (size + 1), limit=size).reason == "oversized"
    assert isinstance(decode(raw, limit=len(raw)), Event)
    assert fault_of(raw, limit=len(raw) - 1).reason == "oversized"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"raw", id="bytes"),
        pytest.param(datetime(2026, 1, 1, tzinfo=UTC), id="a timestamp"),
        pytest.param(msgspec.msgpack.Ext(5, b"x"), id="an extension"),
        pytest.param({1: "one"}, id="a number as key"),
        pytest.param([{b"k": 1}], id="bytes as key, further in"),
    ],
)
def test_what_json_cannot_say_is_refused(value: object) -> None:
    """MessagePack holds more than JSON; an event with such data could never be passed on, so it is refused."""
    raw = msgspec.msgpack.encode(plain_event(data={"deep": {"er": value}}))
    assert fault_of(raw).reason == "schema"


def test_half_a_surrogate_pair_is_refused() -> None:
    r"""A name with a lone \ud800 cannot be written in UTF-8 by anybody, so it is refused where it comes in."""
    for field in ("job", "node", "event", "subject", "text", "boot"):
        raw = json.dumps(plain_event(**{field: "\ud800"})).encode()
        assert fault_of(raw).reason == "malformed", field
    assert fault_of(json.dumps(plain_event(data={"why": ["\udfff"]})).encode()).reason == "malformed"


def test_a_bad_record_takes_no_neighbour_with_it() -> None:
    """Of a body with good and bad lines, every good one is read and every bad one comes out as its fault, in order."""
    good = json.dumps(plain_event()).encode()
    body = b"\n".join([good, b"{", good, json.dumps(plain_event(seq=-1)).encode(), good])
    came = [one.reason if isinstance(one, BadRecord) else "read" for one in decode_all(body)]
    assert came == ["read", "malformed", "read", "schema", "read"]


def test_the_message_of_a_fault_says_reason_place_and_words() -> None:
    """What a person reads in a log names the kind of fault, the field and what was expected there."""
    assert str(fault_of(json.dumps(plain_step(step=-1)).encode())) == "schema at $.step: Expected `int` >= 0"
    assert str(fault_of(b"{}")).startswith("kind at $.kind: one of steps, samples, event, tick is expected")
