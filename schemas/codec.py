"""Bytes to records and back.

JSON or MessagePack, told apart by the first byte. A message holds one record or several: JSON records one per line,
MessagePack records in an array. A reading that is not finite is "NaN", "Infinity" or "-Infinity" on the wire; trainers
also write a bare NaN or "nan", which the strict reader refuses, so a second and slower reading accepts them.
"""

import json
import math
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from schemas.dead import Fault
from schemas.telemetry import VERSION, Inbound

MAX_RECORD_BYTES = 1 << 20
R = TypeVar("R")
Plain = Any  # what JSON and MessagePack hold: dicts, lists, strings, numbers
_READINGS = ("values", "job_values", "normal", "before", "after", "limit")
_WORDS = {
    "nan": math.nan,
    "-nan": math.nan,
    "inf": math.inf,
    "+inf": math.inf,
    "infinity": math.inf,
    "+infinity": math.inf,
    "-inf": -math.inf,
    "-infinity": -math.inf,
}
_KINDS = ("steps", "samples", "event", "tick")

_from_json = msgspec.json.Decoder(Inbound)
_from_msgpack = msgspec.msgpack.Decoder(Inbound)
_pieces = msgspec.msgpack.Decoder(list[msgspec.Raw])
_to_json = msgspec.json.Encoder(order="deterministic")
_to_msgpack = msgspec.msgpack.Encoder(order="deterministic")


class BadRecord(ValueError):
    """A record that cannot be read.

    Attributes:
        reason: the kind of fault, see `schemas.dead.DeadLetter`.
        path: the field at fault, or "".
        detail: the reader's own words.
        raw: the bytes of that record alone.
    """

    def __init__(self, reason: Fault, path: str, detail: str, raw: bytes = b"") -> None:
        super().__init__(f"{reason} at {path or 'the record'}: {detail}")
        self.reason: Fault = reason
        self.path = path
        self.detail = detail
        self.raw = raw


def decode(raw: bytes, limit: int = MAX_RECORD_BYTES) -> Inbound:
    """Read one record.

    Raises:
        BadRecord: with the reason and the field.

    >>> decode(b'{"kind":"event","job":"j","attempt":1,"node":"n","seq":0,"time":1.0,"event":"xid"}').event
    'xid'
    """
    if len(raw) > limit:
        raise BadRecord("oversized", "", f"{len(raw)} bytes, at most {limit}", raw)
    try:
        record = _from_msgpack.decode(raw) if is_msgpack(raw) else _from_json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        record = _second_reading(raw, fault)
    if record.v != VERSION:
        raise BadRecord("version", "$.v", f"version {record.v}, this is {VERSION}", raw)
    return record


def decode_all(body: bytes, limit: int = MAX_RECORD_BYTES) -> list[Inbound | BadRecord]:
    """Read every record of a message or body; a bad one comes out as its fault and its neighbours live.

    Returns:
        As many as `split` gives, in the same order.
    """
    together = _read_together(body) if len(body) <= limit else None
    return together if together is not None else [_read_or_fault(raw, limit) for raw in split(body)]


def split(body: bytes) -> list[bytes]:
    r"""Cut a message or body into the bytes of its records.

    >>> split(b'{"a":1}\n\n{"b":2}\n')
    [b'{"a":1}', b'{"b":2}']
    """
    if body and (0x90 <= body[0] <= 0x9F or body[0] in (0xDC, 0xDD)):
        try:
            return [bytes(piece) for piece in _pieces.decode(body)]
        except msgspec.DecodeError:
            return [body]
    if is_msgpack(body):
        return [body]
    return [line for line in (part.strip() for part in body.split(b"\n")) if line]


def encode(record: Struct) -> bytes:
    """Write a record as JSON: keys sorted, so that the same record is always the same bytes.

    >>> from schemas.telemetry import StepFrame
    >>> frame = StepFrame(job="j", attempt=1, node="n", seq=0, time=1.0, step=3, job_values={"loss": math.nan})
    >>> b'"loss":"NaN"' in encode(frame)
    True
    """
    return _to_json.encode(to_wire(record))


def encode_msgpack(record: Struct) -> bytes:
    """Write a record as MessagePack, keys sorted."""
    return _to_msgpack.encode(to_wire(record))


def to_wire(record: object) -> Plain:
    """Turn a record into plain data in which no number is NaN or infinite."""
    return _spell_out(msgspec.to_builtins(record, builtin_types=(bytes,)))


def from_wire(raw: bytes, record_type: type[R]) -> R:
    """Read one of our own records back."""
    try:
        return msgspec.json.decode(raw, type=record_type)
    except msgspec.ValidationError:
        return msgspec.convert(_revive(json.loads(raw)), record_type)


def is_msgpack(raw: bytes) -> bool:
    """Tell a MessagePack map from JSON text by its first byte."""
    return bool(raw) and (0x80 <= raw[0] <= 0x8F or raw[0] in (0xDE, 0xDF))


def _read_together(body: bytes) -> list[Inbound | BadRecord] | None:
    """Read lines of flawless JSON at once, none of them empty; None where each has to be read by itself."""
    if body[:1] != b"{":
        return None
    try:
        records = _from_json.decode_lines(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    lines = body.count(b"\n") + (body[-1:] != b"\n")
    whole = len(records) == lines and all(record.v == VERSION for record in records)
    return [*records] if whole else None


def _read_or_fault(raw: bytes, limit: int) -> Inbound | BadRecord:
    try:
        return decode(raw, limit)
    except BadRecord as fault:
        return fault


def _second_reading(raw: bytes, first: Exception) -> Inbound:
    """Accept what trainers write for a number that is not finite; refuse everything else with its reason."""
    try:
        loose = msgspec.msgpack.decode(raw) if is_msgpack(raw) else json.loads(raw)
    except (ValueError, msgspec.DecodeError, RecursionError) as fault:
        raise BadRecord("malformed", "", str(fault), raw) from None
    if not isinstance(loose, dict):
        raise BadRecord("malformed", "", f"an object is expected, not {type(loose).__name__}", raw)
    if loose.get("v", VERSION) != VERSION:
        raise BadRecord("version", "$.v", f"version {loose.get('v')!r}, this is {VERSION}", raw)
    if loose.get("kind") not in _KINDS:
        raise BadRecord("kind", "$.kind", f"one of {', '.join(_KINDS)} is expected, not {loose.get('kind')!r}", raw)
    try:
        record: Inbound = msgspec.convert(_revive(loose), Inbound)
        _to_json.encode(record)
    except msgspec.ValidationError as fault:
        detail, _, path = str(fault).partition(" - at ")
        raise BadRecord("schema", _exact(path.rpartition(" in ")[2].strip("`"), loose), detail, raw) from first
    except UnicodeEncodeError:
        raise BadRecord("malformed", "", "half of a surrogate pair", raw) from None
    return record


def _exact(path: str, loose: Plain) -> str:
    """Say which reading is at fault: msgspec names the dict, not the key."""
    head, dots, _ = path.partition("[...]")
    readings = loose.get(head.removeprefix("$."))
    if not dots or not isinstance(readings, dict):
        return path
    for name, value in readings.items():
        if not isinstance(value, list) or head == "$.job_values":
            if head == "$.values" or not _may_be_reading(value):
                return f"{head}.{name}"
            continue
        for index, reading in enumerate(value):
            if not _may_be_reading(reading):
                return f"{head}.{name}[{index}]"
    return path


def _may_be_reading(value: Plain) -> bool:
    return value is None or (isinstance(value, float | int) and not isinstance(value, bool))


def _revive(loose: dict[str, Plain]) -> dict[str, Plain]:
    return {key: _numbers(value) if key in _READINGS else value for key, value in loose.items()}


def _numbers(value: Plain) -> Plain:
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers(inner) for inner in value]
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower(), value)
    return value


def _spell_out(value: Plain) -> Plain:
    if isinstance(value, float):
        return value if math.isfinite(value) else _name(value)
    if isinstance(value, dict):
        return {key: _spell_out(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_spell_out(inner) for inner in value]
    return value


def _name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
