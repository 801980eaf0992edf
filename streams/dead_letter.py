"""How a record that could not be read is written down, wherever it came in."""

from schemas.codec import BadRecord
from schemas.dead import DeadLetter

RAW_KEPT = 64 << 10
"""Bytes of a record that are kept."""


def dead_letter(fault: BadRecord, source: str, offset: int, line: int, time: float) -> DeadLetter:
    """Write a fault down with the place where it came in.

    Args:
        source: topic and partition, or the address that posted it.
        offset: position in that source.
        line: line within the message or body, from 0.
        time: Unix seconds of arrival.
    """
    return DeadLetter(
        reason=fault.reason,
        path=fault.path,
        detail=fault.detail,
        source=source,
        offset=offset,
        line=line,
        raw=fault.raw[:RAW_KEPT],
        time=time,
    )
