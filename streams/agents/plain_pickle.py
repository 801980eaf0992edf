"""Reads pickles of plain data: dicts, lists, tuples, strings, bytes and numbers, and nothing that runs.

Python's own reader believes what a pickle says of itself: six damaged bytes that name a place in its memo make it fetch
64 GB. Here nothing is made that the bytes do not hold, so that time and memory grow with the file and no faster.
"""

import struct
from collections.abc import Callable
from typing import Any

Plain = Any  # dicts, lists, tuples, strings, bytes, numbers
_CUT = "it ends before its end"
_Operation = Callable[["_Machine"], None]


def load(raw: bytes) -> Plain:
    """Read the one value that a pickle of any protocol holds.

    >>> import pickle
    >>> load(pickle.dumps({"entries": [1, 2.5, None, ("a", True)]}, protocol=2))
    {'entries': [1, 2.5, None, ('a', True)]}

    Raises:
        ValueError: it is none, not whole, or holds more than plain data.
    """
    machine = _Machine(raw)
    try:
        while (code := raw[machine.place]) != _STOP:
            machine.place += 1
            _OPERATIONS[code](machine)
        (value,) = machine.stack
    except (LookupError, struct.error):
        raise ValueError(f"no plain pickle at byte {machine.place}") from None
    return value


class _Machine:
    """What reading has at hand: the bytes, the place in them, the values that are not yet part of another, the memo."""

    __slots__ = ("marks", "memo", "place", "raw", "stack")

    def __init__(self, raw: bytes) -> None:
        self.raw, self.place = raw, 0
        self.stack: list[Plain] = []
        self.marks: list[int] = []
        self.memo: dict[int, Plain] = {}

    def take(self, size: int) -> bytes:
        """Give the next bytes."""
        begin, self.place = self.place, self.place + size
        if self.place > len(self.raw):
            raise ValueError(_CUT)
        return self.raw[begin : self.place]

    def line(self) -> bytes:
        """Give the bytes up to the end of the line."""
        begin, end = self.place, self.raw.find(b"\n", self.place)
        if end < 0:
            raise ValueError(_CUT)
        self.place = end + 1
        return self.raw[begin:end]

    def since_mark(self) -> list[Plain]:
        """Take the values after the last mark off the stack."""
        begin = self.marks.pop()
        values = self.stack[begin:]
        del self.stack[begin:]
        return values


def _constant(value: Plain) -> _Operation:
    return lambda machine: machine.stack.append(value)


def _new(kind: Callable[[], Plain]) -> _Operation:
    return lambda machine: machine.stack.append(kind())


def _packed(shape: str) -> _Operation:
    """Give an operation for a number in a fixed number of bytes."""
    packed = struct.Struct(shape)

    def operation(machine: _Machine) -> None:
        machine.stack.append(packed.unpack_from(machine.raw, machine.place)[0])
        machine.place += packed.size

    return operation


def _sized(shape: str, read: Callable[[bytes], Plain]) -> _Operation:
    """Give an operation for a value whose length in bytes stands before it."""
    length = struct.Struct(shape)

    def operation(machine: _Machine) -> None:
        (size,) = length.unpack_from(machine.raw, machine.place)
        machine.place += length.size
        machine.stack.append(read(machine.take(size)))

    return operation


def _lined(read: Callable[[bytes], Plain]) -> _Operation:
    """Give an operation for a value that is printed on a line."""
    return lambda machine: machine.stack.append(read(machine.line()))


def _put(shape: str) -> _Operation:
    place = struct.Struct(shape)

    def operation(machine: _Machine) -> None:
        machine.memo[place.unpack_from(machine.raw, machine.place)[0]] = machine.stack[-1]
        machine.place += place.size

    return operation


def _get(shape: str) -> _Operation:
    place = struct.Struct(shape)

    def operation(machine: _Machine) -> None:
        machine.stack.append(machine.memo[place.unpack_from(machine.raw, machine.place)[0]])
        machine.place += place.size

    return operation


def _put_line(machine: _Machine) -> None:
    machine.memo[int(machine.line())] = machine.stack[-1]


def _get_line(machine: _Machine) -> None:
    machine.stack.append(machine.memo[int(machine.line())])


def _memoize(machine: _Machine) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _mark(machine: _Machine) -> None:
    machine.marks.append(len(machine.stack))


def _last(size: int) -> _Operation:
    """Give an operation that makes a tuple of the last values."""

    def operation(machine: _Machine) -> None:
        machine.stack[-size:] = [tuple(_of_last(machine, size))]

    return operation


def _of_last(machine: _Machine, size: int) -> list[Plain]:
    if len(machine.stack) < size:
        raise ValueError("an operation lacks its values")
    return machine.stack[-size:]


def _tuple(machine: _Machine) -> None:
    machine.stack.append(tuple(machine.since_mark()))


def _list(machine: _Machine) -> None:
    machine.stack.append(machine.since_mark())


def _dict(machine: _Machine) -> None:
    values = machine.since_mark()
    machine.stack.append({})
    _set(machine, values)


def _append(machine: _Machine) -> None:
    _extend(machine, [machine.stack.pop()])


def _appends(machine: _Machine) -> None:
    _extend(machine, machine.since_mark())


def _extend(machine: _Machine, values: list[Plain]) -> None:
    if type(machine.stack[-1]) is not list:
        raise ValueError("what is appended to is no list")
    machine.stack[-1].extend(values)


def _set_item(machine: _Machine) -> None:
    values = _of_last(machine, 2)
    del machine.stack[-2:]
    _set(machine, values)


def _set_items(machine: _Machine) -> None:
    _set(machine, machine.since_mark())


def _set(machine: _Machine, values: list[Plain]) -> None:
    held = machine.stack[-1]
    if type(held) is not dict or len(values) % 2:
        raise ValueError("what gets items is no dict, or a key has no value")
    for key, value in zip(values[::2], values[1::2], strict=True):
        if type(key) not in _KEYS:  # a tuple that holds itself many times over would be hashed for ever
            raise ValueError("a key is no word or number")
        held[key] = value


def _skip(size: int) -> _Operation:
    def operation(machine: _Machine) -> None:
        machine.place += size

    return operation


def _pop(machine: _Machine) -> None:
    machine.stack.pop()


def _pop_mark(machine: _Machine) -> None:
    machine.since_mark()


def _duplicate(machine: _Machine) -> None:
    machine.stack.append(machine.stack[-1])


def _whole(text: bytes) -> int | bool:
    if text in {b"00", b"01"}:  # how protocol 0 writes false and true
        return text == b"01"
    return int(text.rstrip(b"L"))


def _whole_of(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _unicode(raw: bytes) -> str:
    return str(raw, "utf-8", "surrogatepass")


_STOP = ord(".")
_KEYS = frozenset((str, int, float, bool, bytes, type(None)))
_OPERATIONS: dict[int, _Operation] = {
    ord(code): operation
    for code, operation in {
        "N": _constant(None), "\x88": _constant(True), "\x89": _constant(False),
        "]": _new(list), "}": _new(dict), ")": _constant(()),
        "J": _packed("<i"), "K": _packed("<B"), "M": _packed("<H"), "G": _packed(">d"),
        "\x8a": _sized("<B", _whole_of), "\x8b": _sized("<I", _whole_of),
        "X": _sized("<I", _unicode), "\x8c": _sized("<B", _unicode), "\x8d": _sized("<Q", _unicode),
        "B": _sized("<I", bytes), "C": _sized("<B", bytes), "\x8e": _sized("<Q", bytes),
        "I": _lined(_whole), "L": _lined(_whole), "F": _lined(float),
        "V": _lined(lambda raw: str(raw, "raw-unicode-escape")),
        "q": _put("<B"), "r": _put("<I"), "p": _put_line, "\x94": _memoize,
        "h": _get("<B"), "j": _get("<I"), "g": _get_line,
        "(": _mark, "0": _pop, "1": _pop_mark, "2": _duplicate,
        "t": _tuple, "\x85": _last(1), "\x86": _last(2), "\x87": _last(3),
        "l": _list, "a": _append, "e": _appends, "d": _dict, "s": _set_item, "u": _set_items,
        "\x80": _skip(1), "\x95": _skip(8),
    }.items()
}  # fmt: skip
"""Protocol 0 to 5, without what names a class, a function or somebody else's object."""
