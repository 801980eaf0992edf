"""What operators say, as events in the journal, so that the pipeline hears them in order with everything else."""

import threading
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from schemas.action import Request
from schemas.codec import encode
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.clock import unix_seconds
from streams.stores.store import Journal

Person = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128)]


class Signed(BaseModel):
    """A wish with the name of the person behind it."""

    by: Person


class Operator:
    """Writes operators' events.

    Args:
        wake: called after an event was appended.
    """

    def __init__(self, journal: Journal, wake: Callable[[], None]) -> None:
        self._journal = journal
        self._one_at_a_time = threading.Lock()
        self.wake = wake

    def append(self, event: str, about: Incident | Request, data: dict[str, Any]) -> int:  # Any: fields by event
        """Append an event about an incident or a request; give its offset."""
        # The number of the event is an offset nobody had before: it goes on growing through restarts, and the lock
        # keeps two operators from getting the same one, which would pass for a repetition.
        with self._one_at_a_time:
            said = Event(
                job=about.job,
                attempt=about.attempt,
                cluster=about.cluster,
                node="operator",
                boot="feed",
                seq=self._journal.last() + 1,
                time=unix_seconds(),
                event=event,
                subject=about.id,
                data=data,
            )
            return self._journal.append([(about.job, encode(said))], said.time)
