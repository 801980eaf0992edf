"""Numbers that are none: how they are written on the wire, and that absent, zero and not finite stay apart."""

import json
import math
from collections.abc import Callable

import msgspec
import pytest
from msgspec import Struct

from schemas.codec import BadRecord, decode, encode, encode_msgpack, from_wire, to_wire
from schemas.detection import Detection, Vitals
from schemas.telemetry import Event, Reading, StepFrame
from tests.schemas.records import NOW, plain_event, plain_step


def loss_written_as(token: str) -> Reading:
    """The loss of a frame in which the JSON token stands for it."""
    raw = json.dumps(plain_step(job_values={"loss": 7777})).replace("7777", token).encode()
    frame = decode(raw)
    assert isinstance(frame, StepFrame)
    return frame.job_values["loss"]


@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "in quotes"])
@pytest.mark.parametrize(
    ("word", "number"),
    [("NaN", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf)],
)
def test_the_three_words(word: str, number: float, quote: str) -> None:
    """NaN and the infinities are read, bare as JavaScript refuses them and in quotes as the contract wants them."""
    read = loss_written_as(f"{quote}{word}{quote}")
    assert read is not None
    assert math.isnan(read) if math.isnan(number) else read == number


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("nan", math.nan),
        ("NAN", math.nan),
        ("-nan", math.nan),
        (" nan ", math.nan),
        ("inf", math.inf),
        ("+inf", math.inf),
        ("Inf", math.inf),
        ("INFINITY", math.inf),
        ("+Infinity", math.inf),
        ("-inf", -math.inf),
        ("-INF", -math.inf),
    ],
)
def test_words_as_trainers_write_them(word: str, number: float) -> None:
    """C, Python and NumPy each have their own spelling, and all of them are read in quotes."""
    read = loss_written_as(f'"{word}"')
    assert read is not None
    assert math.isnan(read) if math.isnan(number) else read == number


@pytest.mark.parametrize("word", ["", "none", "null", "N/A", "infinite", "1.5", "nan1", "1e5", "true"])
def test_other_words_are_no_numbers(word: str) -> None:
    """A word that is no number is refused and never taken for an absent one."""
    with pytest.raises(BadRecord) as refused:
        loss_written_as(f'"{word}"')
    assert (refused.value.reason, refused.value.path) == ("schema", "$.job_values.loss")


@pytest.mark.parametrize(("token", "number"), [("1e400", math.inf), ("-1e400", -math.inf), ("1e-400", 0.0), ("7", 7.0)])
def test_numbers_outside_the_range(token: str, number: float) -> None:
    """What is too large for a float is infinite, what is too small is zero; neither is an error."""
    assert loss_written_as(token) == number


def test_absent_null_zero_and_not_finite_are_four_things() -> None:
    """A signal that is not sent is not there, null is absent, zero is zero, NaN is NaN, also among ranks."""
    raw = b'{"kind":"steps","job":"j","attempt":1,"node":"n","seq":1,"time":1.0,"step":1,"ranks":[0,1,2,3],'
    frame = decode(raw + b'"values":{"a":[null,0,"NaN",NaN]},"job_values":{"b":null,"c":0}}')
    assert isinstance(frame, StepFrame)
    assert repr(frame.values) == "{'a': [None, 0.0, nan, nan]}"
    assert repr(frame.job_values) == "{'b': None, 'c': 0.0}"


@pytest.mark.parametrize("write", [encode, encode_msgpack], ids=["JSON", "MessagePack"])
def test_what_is_written_has_no_bare_word(write: Callable[[Struct], bytes]) -> None:
    """Neither form of ours holds a number that is not finite: any reader of either can read it."""
    values = {"a": [math.nan, math.inf, -math.inf, None]}
    frame = StepFrame(job="j", attempt=1, node="n", seq=0, time=NOW, step=1, ranks=[0, 1, 2, 3], values=values)
    raw = write(frame)
    plain = json.loads(raw, parse_constant=_refuse) if raw[:1] == b"{" else msgspec.msgpack.decode(raw)
    assert plain["values"] == {"a": ["NaN", "Infinity", "-Infinity", None]}
    assert repr(decode(raw)) == repr(frame)


def _refuse(word: str) -> None:
    raise AssertionError(word)


def test_words_outside_of_readings_are_words() -> None:
    """A job may be called nan, and an event may say so: only readings are turned into numbers."""
    event = decode(json.dumps(plain_event(job="nan", text="inf", data={"loss": "NaN", "x": math.nan})).encode())
    assert isinstance(event, Event)
    assert (event.job, event.text, event.data["loss"]) == ("nan", "inf", "NaN")


def test_a_detection_of_nan_is_read_back() -> None:
    """What the detectors found survives the wire, be it NaN, infinite or absent."""
    found = Detection(
        id="d", job="j", attempt=1, detector="nonfinite", signal="loss", layer="loss", onset_time=NOW, time=NOW
    )
    for before, after in ((math.nan, math.inf), (-math.inf, math.nan), (None, 2.0)):
        changed = msgspec.structs.replace(found, before=before, after=after, limit=after)
        assert repr(from_wire(encode(changed), Detection)) == repr(changed)


def test_vitals_are_read_back() -> None:
    """Values and healthy levels of the job survive the wire, be they NaN, infinite or absent."""
    vitals = Vitals(job="j", attempt=1, time=NOW, values={"a": None, "loss": math.nan}, normal={"b": -math.inf})
    assert repr(from_wire(encode(vitals), Vitals)) == repr(vitals)


def test_plain_data_is_plain() -> None:
    """`to_wire` gives dicts, lists, words and finite numbers, so that the standard library can write it."""
    frame = StepFrame(job="j", attempt=1, node="n", seq=0, time=NOW, step=1, job_values={"loss": math.nan})
    assert json.loads(json.dumps(to_wire(frame), allow_nan=False)) == to_wire(frame)
