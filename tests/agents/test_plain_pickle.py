"""Pickles of plain data: what Python writes is read, and what claims more than it holds costs nothing."""

import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.agents.plain_pickle import load

_KEYS = st.text() | st.integers() | st.booleans() | st.none()
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(_KEYS, inner),
    max_leaves=30,
)
_LAUGHS = b"\x80\x02)" + b"2\x86" * 60
"""A tuple that holds itself 2^60 times: made of sixty pairs."""


@given(value=_VALUES, protocol=st.integers(2, 5))
def test_what_python_writes_is_read(value: object, protocol: int) -> None:
    """Every protocol that writes its types itself gives the same value back."""
    assert load(pickle.dumps(value, protocol)) == value


@given(value=st.dictionaries(st.text(), st.lists(st.integers() | st.booleans() | st.floats(allow_nan=False))))
def test_the_oldest_protocol_is_read(value: object) -> None:
    """Protocol 0, which prints everything on lines, gives the same value back."""
    assert load(pickle.dumps(value, 0)) == value


@given(value=st.lists(st.binary()), protocol=st.integers(3, 5))
def test_bytes_are_read(value: object, protocol: int) -> None:
    """From protocol 3 on, which knows them."""
    assert load(pickle.dumps(value, protocol)) == value


def test_a_value_may_hold_itself() -> None:
    """A list that is its own element is read as such."""
    own: list[object] = []
    own.append(own)
    read = load(pickle.dumps(own))
    assert read[0] is read


@pytest.mark.parametrize(
    "raw",
    {
        "nothing": b"",
        "no end": b"\x80\x02}",
        "empty": b"\x80\x02.",
        "two values": b"\x80\x02}}.",
        "a name": b"\x80\x02cos\nsystem\n.",
        "a string of 4 GB": b"\x80\x02X\xff\xff\xff\xffabc.",
        "a string of exabytes": b"\x80\x04\x8d" + b"\xff" * 8 + b"abc.",
        "a bytearray of gigabytes": b"\x80\x05\x96" + b"\x00\x00\x00\xff\x00\x00\x00\x00" + b"abc.",
        "a number of 4 GB": b"\x80\x02\x8b\xff\xff\xff\xff1.",
        "a place nobody filled": b"\x80\x02}j\xff\xff\xff\xff.",
        "a pair of one": b"\x80\x02]\x86.",
        "a mark nobody set": b"\x80\x02]e.",
        "a number is appended to": b"K\x01K\x02a.",
        "a key without a value": b"}(K\x01u.",
        "a key for ever in hashing": b"}" + _LAUGHS + b"Ns.",
        "half a float": b"G\x00\x00",
        "digits without end": b"I" + b"9" * 10_000 + b"\n.",
        "no text": b"X\x01\x00\x00\x00\xff.",
    }.items(),
    ids=lambda pair: pair[0],
)
def test_what_is_damaged_is_refused(raw: tuple[str, bytes]) -> None:
    """Whatever is cut, claims what it does not hold or names what may run is a ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        load(raw[1])


@pytest.mark.parametrize("memo", [b"r\xff\xff\xff\xff", b"p4294967295\n", b"p99999999999999999999\n"])
def test_a_place_in_the_memo_costs_one_place(memo: bytes) -> None:
    """A damaged number of a place makes nobody fetch gigabytes, as Python's own reader does."""
    tracemalloc.start()
    try:
        assert load(b"}" + memo + b".") == {}
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_what_laughs_is_not_told_out() -> None:
    """A tuple that would print 2^60 times is read, and stays as small as its bytes."""
    assert isinstance(load(_LAUGHS + b"."), tuple)
