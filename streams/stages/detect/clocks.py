"""Lines of a log whose clock is certainly wrong: they count from when they were heard of."""

from msgspec import structs

from schemas.telemetry import Event
from streams.stages.detect.memory import Attempt

FROM_LOGS = ("xid", "gpu.", "nccl.", "oom.", "worker.killed", "rank.", "storage.", "log.line")
"""How events begin that are read from logs of a node, stamped by its kernel or in its local time."""
BEFORE_SECONDS = 60.0
"""Nothing that belongs to an attempt happened so long before it began."""
AHEAD_SECONDS = 4 * 3600.0
"""Further ahead of the stream than the longest limit of a watchdog, after which the next line may come."""


def right_time(event: Event, attempt: Attempt, clock: float) -> Event:
    """Give an event the time of the stream where its own cannot be: before its attempt began, or hours ahead.

    Args:
        event: that has just come in; what it was stamped with is kept in its data.
        attempt: that runs.
        clock: the stream's, Unix seconds.
    """
    if not event.event.startswith(FROM_LOGS) or event.attempt != attempt.number or attempt.started is None:
        return event
    if attempt.started - BEFORE_SECONDS <= event.time <= max(clock, attempt.started) + AHEAD_SECONDS:
        return event
    return structs.replace(event, time=max(clock, attempt.started), data={**event.data, "stamped": event.time})
