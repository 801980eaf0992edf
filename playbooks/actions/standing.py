"""Whether a request still stands, looked at just before it is run. Only times of records are compared."""

from typing import Literal

from msgspec import Struct

from playbooks.actions.action import AnyAction
from playbooks.actions.notify import OVER
from schemas.action import Request
from schemas.incident import Incident


class Lapsed(Struct, frozen=True):
    """Why a request must not be run any more."""

    outcome: Literal["refused", "expired"]
    reason: str


def lapsed(request: Request, action: AnyAction, incident: Incident, newest_attempt: int) -> Lapsed | None:
    """Look whether the world has moved on since the decision; None while the request stands.

    What harms nothing (messages, the ledger, documents) does not expire and does not depend on the attempt: it tells of
    the incident as it stands when it is run.

    Args:
        request: the decision.
        action: what it wants to run.
        incident: its latest revision.
        newest_attempt: the latest attempt seen of the job.
    """
    if incident.state in OVER and not action.after_the_end:
        return Lapsed("refused", f"the incident is {incident.state}")
    if action.risk == "none":
        return None
    if incident.severity == "info" and not action.after_the_end:
        return Lapsed("refused", "on an incident of severity info nothing acts")
    newest = max(newest_attempt, incident.attempt)
    if request.attempt < newest:
        return Lapsed("refused", f"attempt {request.attempt} was superseded by attempt {newest}")
    late = incident.updated_time - (request.time + request.expires)
    if late > 0:
        return Lapsed("expired", f"the incident moved on until {late:.0f} s after the request ran out")
    return None
