"""An event of another system, with whom it is of."""

from datetime import UTC, datetime

from msgspec import Struct

from schemas.telemetry import LATEST_TIME
from streams.agents.finding import Happening


class Arrived(Struct, frozen=True):
    """One event.

    Attributes:
        source: who told it; sent again by the same source with the same `id`, it is the same event.
        id: unique within the source.
        node: the node it speaks of; "" where it names none.
        job: the job it speaks of; "" where it names none.
        attempt: start number of that job.
    """

    source: str
    id: str
    happening: Happening
    node: str = ""
    job: str = ""
    attempt: int = 0


class NotReadable(ValueError):
    """The body is no such message; the message says which field is at fault."""


def seconds(text: object) -> float | None:
    """Read an RFC 3339 time; None where there is none, or one that no record can hold.

    >>> seconds("2026-03-04T10:00:00.500Z"), seconds("0001-01-01T00:00:00Z"), seconds(3)
    (1772618400.5, None, None)
    """
    if not isinstance(text, str) or not text:
        return None
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
        told = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return told if 0 < told < LATEST_TIME else None
