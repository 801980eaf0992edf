"""Tell people of an incident through the configured sinks."""

from collections.abc import Sequence
from typing import Literal

from playbooks.actions.action import Params, Risk
from playbooks.ports import Kind, NotConfigured, Ports
from playbooks.retry import Delivered, Ending, Finished, Refused
from schemas.action import Request
from schemas.incident import Incident

OVER = ("resolved", "closed")


class NotifyParams(Params, frozen=True, kw_only=True):
    """Whom to tell what.

    Attributes:
        sinks: names of sinks; empty for all that are configured.
        kind: what the message tells; "" reads it off the incident.
    """

    sinks: tuple[str, ...] = ()
    kind: Literal["", "opened", "changed", "resolved"] = ""


class Notify:
    """Send one message; the runner gives each sink a try of its own, so that a dead one repeats nothing elsewhere."""

    name = "notify"
    params = NotifyParams
    reversible = False
    undo = ""
    risk: Risk = "none"
    after_the_end = True

    async def run(self, request: Request, params: NotifyParams, ports: Ports) -> Ending:
        """Tell the one sink that is named, in the words of the incident as it stands now."""
        incident = await ports.records.incident(request.incident)
        if incident is None or len(params.sinks) != 1:
            return Refused("one incident and one sink are needed")
        if incident.severity == "info":
            return Refused("an incident of severity info pages nobody")
        kind = params.kind or kind_of([incident])
        if (kind == "resolved") != (incident.state in OVER):
            return Refused(f"the incident is {incident.state}, so it is not told as {kind}")
        try:
            delivery = await ports.sinks.tell(params.sinks[0], incident, kind)
        except NotConfigured as fault:
            return Refused(str(fault))
        return Finished(f"told as {kind}") if isinstance(delivery, Delivered) else delivery


def kind_of(revisions: Sequence[Incident]) -> Kind:
    """Read off the revisions of an incident, oldest first, what there is to tell: over, worse than at first, or new."""
    if revisions[-1].state in OVER:
        return "resolved"
    return "opened" if revisions[-1].severity == revisions[0].severity else "changed"


def message_key(incident: Incident, kind: Kind, sink: str) -> str:
    """Name a message; there is one for each incident, kind, severity and sink."""
    return f"{incident.id}/{kind}/{incident.severity}/{sink}"
