"""Where a record comes from, as a header of its message: the value stays what every runtime makes of the telemetry."""

from collections.abc import Iterable

import msgspec

from schemas.origin import Origin

NAME = "origin"


def headers_of(origin: Origin | None) -> tuple[tuple[str, bytes], ...]:
    """Write the header; none where nothing is known.

    >>> headers_of(Origin("telemetry", 2, 5, 9))
    (('origin', b'{"topic":"telemetry","partition":2,"first":5,"last":9}'),)
    """
    return () if origin is None else ((NAME, msgspec.json.encode(origin)),)


def origin_in(headers: Iterable[tuple[str, bytes]]) -> Origin | None:
    """Read it back; a header that others wrote is none of ours.

    >>> origin_in([("trace", b"1"), *headers_of(Origin("telemetry", 2, 5, 9))])
    Origin(topic='telemetry', partition=2, first=5, last=9)
    >>> origin_in([("origin", b"somewhere")]) is None
    True
    """
    for name, value in headers:
        if name == NAME:
            try:
                return msgspec.json.decode(value, type=Origin)
            except msgspec.MsgspecError:
                return None
    return None
