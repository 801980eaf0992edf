"""The one place that reads the clock; everything pure gets its time from records."""

import time


def unix_seconds() -> float:
    """Unix seconds, UTC."""
    return time.time()  # noqa: TID251 - this is the edge


def monotonic_seconds() -> float:
    """Seconds of a clock that never goes back; for intervals."""
    return time.monotonic()
