"""Messages and bodies: one record or several, JSON by lines or MessagePack in an array."""

import json

import msgspec
import pytest

from schemas.codec import BadRecord, decode, decode_all, encode, encode_msgpack, is_msgpack, split
from schemas.telemetry import Event, Tick
from tests.schemas.records import NOW, plain_event

ONE = json.dumps(plain_event(seq=1)).encode()
TWO = json.dumps(plain_event(seq=2)).encode()


def numbers(body: bytes) -> list[int]:
    """The sequence numbers of the records of a body; -1 for one that cannot be read."""
    return [one.seq if isinstance(one, Event) else -1 for one in decode_all(body)]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"\n\n  \r\n\t\n", [], id="blank lines alone"),
        pytest.param(ONE, [1], id="one line without an end"),
        pytest.param(ONE + b"\n", [1], id="one line"),
        pytest.param(ONE + b"\r\n" + TWO + b"\r\n", [1, 2], id="line ends of other systems"),
        pytest.param(b"\n\n" + ONE + b"\n\n\n" + TWO, [1, 2], id="blank lines between"),
        pytest.param(b"  " + ONE + b"  \n", [1], id="blanks around"),
        pytest.param(ONE + TWO, [-1], id="two on one line"),
        pytest.param(b"[" + ONE + b"," + TWO + b"]", [-1], id="a JSON array is no body"),
    ],
)
def test_json_bodies(body: bytes, wanted: list[int]) -> None:
    """JSON records stand one per line, and blank lines are no records."""
    assert numbers(body) == wanted


@pytest.mark.parametrize("count", [1, 2, 15, 16, 70_000])
def test_a_messagepack_array_holds_many(count: int) -> None:
    """An array of any length, whichever way MessagePack writes its head, gives its records in order."""
    record = encode_msgpack(decode(ONE))
    body = msgspec.msgpack.encode([msgspec.Raw(record)] * count)
    assert split(body) == [record] * count


def test_a_messagepack_map_is_one_record() -> None:
    """A map of few or of many fields is read as one record."""
    small = msgspec.msgpack.encode(plain_event(seq=1))
    large = msgspec.msgpack.encode(plain_event(seq=2, **{f"extra_{n}": n for n in range(20)}))
    assert (small[0] & 0xF0, large[0]) == (0x80, 0xDE)
    assert (numbers(small), numbers(large)) == ([1], [2])


def test_bad_members_of_an_array_are_told_alone() -> None:
    """A bad record in a MessagePack array comes out as its fault, between its neighbours."""
    good, bad = plain_event(seq=1), plain_event(seq=-5)
    assert numbers(msgspec.msgpack.encode([good, bad, 7, good])) == [1, -1, -1, 1]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(msgspec.msgpack.encode([plain_event()])[:-3], id="cut off"),
        pytest.param(msgspec.msgpack.encode([plain_event()]) + b"\x00", id="with something behind it"),
        pytest.param(b"\xdd\xff\xff\xff\xff", id="that claims four billion records"),
    ],
)
def test_a_damaged_array_is_one_fault(body: bytes) -> None:
    """An array that cannot be cut is refused whole, without a guess at its pieces and without taking memory for it."""
    [fault] = decode_all(body)
    assert isinstance(fault, BadRecord)
    assert (fault.reason, fault.raw) == ("malformed", body)


def test_the_limit_is_for_each_record() -> None:
    """A body may be longer than a record may be."""
    body = (ONE + b"\n") * 50
    assert [isinstance(one, Event) for one in decode_all(body, limit=len(ONE))] == [True] * 50
    assert [isinstance(one, BadRecord) for one in decode_all(ONE + b"\n" + TWO + b" x", limit=len(ONE))] == [
        False,
        True,
    ]


def test_unknown_fields_are_no_error() -> None:
    """A newer agent may say more than this reader knows."""
    for raw in (json.dumps(plain_event(colour="red")).encode(), msgspec.msgpack.encode(plain_event(colour="red"))):
        assert decode(raw) == decode(json.dumps(plain_event()).encode())


def test_what_may_be_left_out() -> None:
    """Version, boot, cluster, arrival, subject, data and text have defaults."""
    event = decode(b'{"kind":"event","job":"j","attempt":0,"node":"n","seq":0,"time":0,"event":"xid"}')
    assert isinstance(event, Event)
    assert (event.v, event.boot, event.cluster, event.received) == (1, "", "default", None)
    assert (event.subject, event.data, event.text) == ("", {}, "")


def test_a_tick_is_read() -> None:
    """The runtime's own moments pass through the same reader."""
    assert decode(encode(Tick(time=NOW))) == Tick(time=NOW, every=5.0)


def test_the_first_byte_tells_the_form() -> None:
    """JSON text never begins with a byte that MessagePack takes for a map."""
    assert [is_msgpack(raw) for raw in (b"", b"{", b" {", b"[", b"\x80", b"\x8f", b"\xde\x00", b"\xdf", b"\x90")] == [
        *(False, False, False, False),
        *(True, True, True, True),
        False,
    ]
