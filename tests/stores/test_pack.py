"""A memory that went through bytes is the memory it was."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from msgspec import Struct, field
from numpy.typing import NDArray

from streams.stores.pack import Unreadable, pack, unpack

Array = NDArray[Any]  # the element type is what is tested


class Row(Struct):
    """A nested part with an array in a union with None."""

    levels: NDArray[np.float64] | None = None
    seen: set[str] = field(default_factory=set)


class Memory(Struct):
    """Everything a memory may hold."""

    width: int = 0
    mean: float | None = None
    array: Array = field(default_factory=lambda: np.zeros(0))
    rows: dict[str, Row] = field(default_factory=dict)
    by_rank: dict[int, list[float]] = field(default_factory=dict)
    pairs: list[tuple[str, NDArray[np.int64]]] = field(default_factory=list)
    ranks: frozenset[int] = frozenset()
    nested: dict[str, set[tuple[int, str]]] = field(default_factory=dict)
    raw: bytes = b""


DTYPES = (np.float64, np.float32, np.int64, np.int32, np.int8, np.uint8, np.uint64, np.bool_)
SHAPES = st.lists(st.integers(0, 4), min_size=0, max_size=3).map(tuple)
ARRAYS = st.tuples(st.sampled_from(DTYPES), SHAPES).flatmap(lambda kind: arrays(kind[0], kind[1]))


@settings(deadline=None)
@given(ARRAYS)
def test_arrays_come_back_whole(array: Array) -> None:
    """Kind, shape and every bit survive, and the array that comes back can be written to."""
    back = unpack(pack(Memory(array=array)), Memory).array
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert back.flags.writeable
    back[...] = 0


def test_arrays_of_any_memory_order_come_back() -> None:
    """A transposed, a strided and a big-endian array come back with the same values."""
    grid = np.arange(12.0).reshape(3, 4)
    for array in (grid.T, grid[:, ::2], grid.astype(">f8")):
        np.testing.assert_array_equal(unpack(pack(Memory(array=array)), Memory).array, array)


MEMORIES = st.builds(
    Memory,
    width=st.integers(-(2**63), 2**63 - 1),
    mean=st.one_of(st.none(), st.floats(allow_nan=False)),
    by_rank=st.dictionaries(st.integers(0, 9), st.lists(st.floats(allow_nan=False), max_size=3), max_size=3),
    ranks=st.frozensets(st.integers(-5, 5), max_size=4),
    nested=st.dictionaries(st.text(max_size=3), st.sets(st.tuples(st.integers(0, 3), st.text(max_size=2)), max_size=3)),
    raw=st.binary(max_size=8),
)


@settings(deadline=None)
@given(MEMORIES)
def test_everything_else_comes_back_equal(memory: Memory) -> None:
    """Numbers, text, bytes, dicts, lists, tuples, sets and None survive, and packing again gives the same bytes."""
    data = pack(memory)
    back = unpack(data, Memory)
    for name in ("width", "mean", "by_rank", "ranks", "nested", "raw"):
        assert getattr(back, name) == getattr(memory, name)
    assert pack(back) == data


def test_arrays_come_back_from_any_depth() -> None:
    """Arrays inside structs, dicts, lists and tuples survive, and None in their place stays None."""
    memory = Memory(
        rows={"a": Row(np.array([1.0, np.nan]), {"x", "y"}), "b": Row()}, pairs=[("p", np.arange(3, dtype=np.int64))]
    )
    back = unpack(pack(memory), Memory)
    np.testing.assert_array_equal(back.rows["a"].levels, [1.0, np.nan])
    assert back.rows["a"].seen == {"x", "y"}
    assert back.rows["b"].levels is None
    np.testing.assert_array_equal(back.pairs[0][1], [0, 1, 2])


def test_packing_leaves_the_memory_alone() -> None:
    """Sets are still sets in the memory that was packed."""
    memory = Memory(rows={"a": Row(seen={"x"})}, ranks=frozenset({1}))
    pack(memory)
    assert memory.rows["a"].seen == {"x"}
    assert memory.ranks == frozenset({1})


def test_dicts_keep_the_order_in_which_they_grew() -> None:
    """A memory that drops its oldest key must drop the same key after a restart."""
    memory = Memory(by_rank={9: [1.0], 2: [2.0], 5: [3.0]})
    assert list(unpack(pack(memory), Memory).by_rank) == [9, 2, 5]


def test_numbers_of_numpy_become_numbers() -> None:
    """A numpy number that slipped into a field is kept as the number it is."""
    assert unpack(pack(Memory(width=np.int64(3), mean=np.float64(0.5))), Memory).width == 3  # type: ignore[arg-type]


def test_bytes_do_not_depend_on_the_process() -> None:
    """Two processes with different hash seeds write the same memory as the same bytes."""
    program = (
        "import sys; from msgspec import Struct; from streams.stores.pack import pack\n"
        "class Memory(Struct):\n    names: set[str]; pairs: set[tuple[str, int]]\n"
        "names = {f'node-{n}' for n in range(50)}\n"
        "sys.stdout.buffer.write(pack(Memory(names, {(n, len(n)) for n in names})))"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(written) == 1


@pytest.mark.parametrize(
    ("name", "array"),
    [("objects", np.array([object()])), ("text", np.array(["a"])), ("complex", np.array([1j]))],
)
def test_arrays_of_other_things_are_refused(name: str, array: Array) -> None:
    """What could not come back as it was is refused when it is packed."""
    with pytest.raises(TypeError, match="cannot hold"):
        pack(Memory(array=array))


BROKEN = {
    "empty": b"",
    "text": b"not a memory",
    "cut short": pack(Memory(array=np.arange(100.0)))[:-30],
    "another type": pack(Row(np.zeros(3))) + b"\x00",
    "no array in its place": pack(Row()).replace(b"\xc0", b"\x07"),
    "unknown extension": b"\x81\xa5array\xd4\x63\x00",
    "array cut short": b"\x81\xa5array\xc7\x0a\x01\x93\xa3<f8\x91\x05\xc4\x01\x00",
}


@pytest.mark.parametrize("name", BROKEN)
def test_damaged_bytes_are_told(name: str) -> None:
    """Bytes that are no such memory raise one error that says what was expected."""
    with pytest.raises(Unreadable, match=r"no (Memory|Row)"):
        unpack(BROKEN[name], Row if name.startswith("no array") else Memory)
