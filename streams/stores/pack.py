"""Memory to bytes and back: MessagePack in which numpy arrays travel whole.

A restored memory must have the same future as the one that was saved, so dicts keep the order in which they grew.
Sets have no order of their own and differ from process to process; they are written sorted.
"""

import copy
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.msgpack import Ext

S = TypeVar("S", bound=Struct)
Plain = Any  # memories hold structs, dicts, lists, tuples, sets, numbers, text and arrays in any nesting
_ARRAY = 1
_LEAVES = frozenset({float, int, str, bool, bytes, type(None), np.ndarray})


class Unreadable(ValueError):
    """Bytes that are no memory of the wanted type: damaged, or written by another version."""


def pack(memory: Struct) -> bytes:
    """Write a memory; equal memories with equal histories give equal bytes.

    Raises:
        TypeError: it holds something that cannot be kept, an array of objects for example.
    """
    return _encoder.encode(_settle(memory))


def unpack(data: bytes, memory_type: type[S]) -> S:
    """Read a memory back; its arrays can be written to.

    Raises:
        Unreadable: the bytes are damaged or of another type.

    >>> class Seen(Struct):
    ...     levels: np.ndarray
    >>> unpack(pack(Seen(levels=np.array([1.0, np.nan]))), Seen).levels
    array([ 1., nan])
    """
    try:
        return msgspec.msgpack.decode(data, type=memory_type, ext_hook=_read_array, dec_hook=_check_array)
    except (msgspec.DecodeError, TypeError, ValueError) as fault:
        raise Unreadable(f"no {memory_type.__name__}: {fault}") from fault


def _settle(value: Plain) -> Plain:
    """Replace every set by a sorted list; what holds no set comes back as it is."""
    if type(value) in _LEAVES:
        return value
    if isinstance(value, Struct):
        return _settle_struct(value)
    if isinstance(value, dict):
        settled = {key: _settle(inner) for key, inner in value.items()}
        return settled if any(settled[key] is not inner for key, inner in value.items()) else value
    if isinstance(value, list | tuple):
        items = [_settle(inner) for inner in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, set | frozenset):
        return sorted((_settle(inner) for inner in value), key=_encoder.encode)
    return value


def _settle_struct(value: Struct) -> Struct:
    fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
    changed = {name: settled for name, inner in fields if (settled := _settle(inner)) is not inner}
    if not changed:
        return value
    # A copy, not a new struct: a memory's own checks expect sets where lists stand now.
    twin = copy.copy(value)
    for name, settled in changed.items():
        msgspec.structs.force_setattr(twin, name, settled)
    return twin


def _write_other(value: object) -> Plain:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return Ext(_ARRAY, msgspec.msgpack.encode((value.dtype.str, value.shape, value.tobytes())))
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(f"a memory cannot hold {what}")


def _read_array(code: int, data: memoryview) -> np.ndarray:
    if code != _ARRAY:
        raise Unreadable(f"extension {code} is not known")
    kind, shape, raw = msgspec.msgpack.decode(data, type=tuple[str, tuple[int, ...], bytes])
    # A bytearray, because an array over bytes could not be written to.
    return np.frombuffer(bytearray(raw), dtype=np.dtype(kind)).reshape(shape)


def _check_array(wanted: type, value: object) -> object:
    """Accept an array for a field annotated as one; msgspec asks for every type that is not its own."""
    if getattr(wanted, "__origin__", wanted) is not np.ndarray or not isinstance(value, np.ndarray):
        raise TypeError(f"{wanted} expected, not {type(value).__name__}")
    return value


_encoder = msgspec.msgpack.Encoder(enc_hook=_write_other)
