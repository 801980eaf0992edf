"""Hand a request to a remediation system of the installation, as a signed CloudEvent."""

from typing import Annotated

from msgspec import Meta

from playbooks.actions.action import Params, Risk
from playbooks.ports import Ports
from playbooks.retry import Delivered, Ending, Finished, Refused
from schemas.action import Request


class WebhookParams(Params, frozen=True, kw_only=True):
    """Whom to ask.

    Attributes:
        sink: name of a configured sink of kind `webhook`; addresses stand in the installation's settings alone.
    """

    sink: Annotated[str, Meta(min_length=1, max_length=64)] = "webhook"


class Webhook:
    """Post the request and its incident; what the receiver does is unknown to us, so it counts as a risk to the job."""

    name = "webhook"
    params = WebhookParams
    reversible = False
    undo = ""
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: WebhookParams, ports: Ports) -> Ending:
        """Post it once; the receiver knows a repeated try by its id."""
        if ports.sinks.kinds().get(params.sink) != "webhook":
            return Refused(f"no sink named {params.sink!r} of kind webhook is configured")
        incident = await ports.records.incident(request.incident)
        if incident is None:
            return Refused("there is no such incident")
        delivery = await ports.sinks.tell(params.sink, incident, "changed", request)
        return Finished(f"{params.sink} accepted it") if isinstance(delivery, Delivered) else delivery
