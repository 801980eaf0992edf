"""What operators say, as events in the journal, so that the pipeline hears them in order with everything else."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from schemas.action import Request
from schemas.codec import encode
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.clock import unix_seconds
from streams.stores.store import Intake, Numbers

NODE = "operator"
Person = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128)]


class Signed(BaseModel):
    """A wish with the name of the person behind it."""

    by: Person


class Operator:
    """Writes operators' events.

    Args:
        intake: where they go.
        numbers: what numbers them: two operators with the same number would pass for a repetition.
        wake: called after an event was appended.
    """

    def __init__(self, intake: Intake, numbers: Numbers, wake: Callable[[], None]) -> None:
        self._intake = intake
        self._numbers = numbers
        self.wake = wake

    def append(self, event: str, about: Incident | Request, data: dict[str, Any]) -> int:  # Any: fields by event
        """Append an event about an incident or a request; give its offset."""
        said = Event(
            job=about.job,
            attempt=about.attempt,
            cluster=about.cluster,
            node=NODE,
            boot="feed",
            seq=self._numbers.following(NODE),
            time=unix_seconds(),
            event=event,
            subject=about.id,
            data=data,
        )
        return self._intake.append([(about.job, encode(said))], said.time)
