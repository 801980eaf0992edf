"""Open the post-mortem of an incident."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.postmortem import postmortem
from playbooks.ports import Ports
from playbooks.retry import Ending, Finished, Refused, Retry
from schemas.action import Request


class PostmortemOpen:
    """Write the document, one for each incident; a later try writes it anew with what is known by then."""

    name = "postmortem.open"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "none"
    after_the_end = True

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Write it."""
        revisions = await ports.records.revisions(request.incident)
        if not revisions:
            return Refused("there is no such incident")
        detections = await ports.records.detections(revisions[-1].detections)
        try:
            where = await ports.documents.write(f"postmortem-{request.incident}.md", postmortem(revisions, detections))
        except OSError as fault:
            return Retry(f"the document could not be written: {fault.strerror or type(fault).__name__}")
        return Finished(f"written to {where}")
