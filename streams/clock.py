"""The one place that reads the clock; everything pure gets its time from records."""

import time
from datetime import UTC, datetime, tzinfo


def unix_seconds() -> float:
    """Unix seconds, UTC."""
    return time.time()  # noqa: TID251 - this is the edge


def monotonic_seconds() -> float:
    """Seconds of a clock that never goes back; for intervals."""
    return time.monotonic()


def local_zone() -> tzinfo:
    """The zone of this machine, in which logs print their times."""
    return datetime.fromtimestamp(time.time(), UTC).astimezone().tzinfo or UTC  # noqa: TID251 - this is the edge
