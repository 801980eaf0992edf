"""What holds for any bytes and any record."""

import json

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import BadRecord, decode, decode_all, encode, encode_msgpack, from_wire
from schemas.telemetry import Event, SampleFrame, StepFrame, Telemetry, Tick
from tests.schemas.records import any_telemetry, plain_event, plain_step

KINDS = (StepFrame, SampleFrame, Event, Tick)

json_like = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(["NaN", "steps", "event", "", "x"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from([*plain_step(), *plain_event(), "every", "of", "ids"]), inner, max_size=8),
    ),
    max_leaves=12,
)


@given(st.binary(max_size=200))
@settings(max_examples=400)
def test_any_bytes_give_records_or_faults(body: bytes) -> None:
    """Whatever arrives, each piece is a record or a fault with its bytes, and nothing is raised."""
    for one in decode_all(body):
        assert isinstance(one, KINDS) or one.raw in body


@given(st.lists(json_like, max_size=3), st.booleans())
@settings(max_examples=400)
def test_any_plain_data_gives_records_or_faults(pieces: list[object], packed: bool) -> None:
    """Well-formed JSON or MessagePack of any shape gives records or faults."""
    if packed:
        body = msgspec.msgpack.encode([_small(piece) for piece in pieces])
    else:
        body = b"\n".join(json.dumps(piece).encode() for piece in pieces)
    assert [isinstance(one, (*KINDS, BadRecord)) for one in decode_all(body)] == [True] * len(pieces)


@given(any_telemetry, st.sampled_from(list(plain_step())), json_like)
@settings(max_examples=300)
def test_a_record_with_one_field_changed(record: Telemetry, name: str, value: object) -> None:
    """A valid record in which one field holds something else is a record or a fault."""
    plain = {**msgspec.json.decode(encode(record)), name: value}
    for one in decode_all(json.dumps(plain).encode()):
        assert isinstance(one, (*KINDS, BadRecord))


@given(any_telemetry)
@settings(max_examples=300)
def test_a_record_survives_the_wire(record: Telemetry) -> None:
    """What is written is read back as it was, in either form, numbers that are none included."""
    for write in (encode, encode_msgpack):
        raw = write(record)
        back = decode(raw)
        assert type(back) is type(record)
        assert write(back) == raw
    assert encode(from_wire(encode(record), type(record))) == encode(record)


@given(any_telemetry)
def test_a_line_is_one_line(record: Telemetry) -> None:
    """A record as JSON holds no line end, so that lines can be records."""
    raw = encode(record)
    assert b"\n" not in raw
    assert len(list(decode_all(raw + b"\n" + raw))) == 2


@given(any_telemetry)
def test_the_same_record_is_the_same_bytes(record: Telemetry) -> None:
    """Bytes do not depend on the order in which dicts were filled."""
    if isinstance(record, Event):
        turned: Telemetry = msgspec.structs.replace(record, data=dict(reversed(record.data.items())))
    elif isinstance(record, StepFrame | SampleFrame):
        turned = msgspec.structs.replace(record, values=dict(reversed(record.values.items())))
    assert encode(turned) == encode(record)
    assert encode_msgpack(turned) == encode_msgpack(record)


def _small(value: object) -> object:
    """Keep numbers inside what MessagePack can say."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-(1 << 63), min(value, (1 << 64) - 1))
    if isinstance(value, list):
        return [_small(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _small(inner) for key, inner in value.items()}
    return value
