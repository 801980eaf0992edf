"""A record that could not be read: why, where it came from, and what it was."""

from typing import Literal

from msgspec import Struct

from schemas.telemetry import VERSION

Fault = Literal["malformed", "oversized", "schema", "version", "kind", "key"]


class DeadLetter(Struct, frozen=True, kw_only=True):
    """What lands in the topic `dead`.

    Attributes:
        reason: malformed (no JSON or MessagePack), oversized, schema (a field is missing or has the wrong type),
            version, kind (no such record), key (not the job of the message).
        path: the field at fault, `$.values.loss[3]`, or "".
        detail: the reader's own words.
        source: topic and partition, or the address that posted it.
        offset: position in that source.
        line: line within the message or body, from 0.
        raw: the bytes, at most 64 KiB of them.
        time: Unix seconds of arrival.
    """

    v: int = VERSION
    reason: Fault
    path: str
    detail: str
    source: str
    offset: int
    line: int
    raw: bytes
    time: float
