"""Save one checkpoint at the next step, before something is lost."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.setting import wish
from playbooks.ports import Ports
from playbooks.retry import Ending
from schemas.action import Request

SETTING = "checkpoint.now"


class CheckpointNow:
    """Wish `checkpoint.now` = the request's id; the trainer saves once per id, so a repeated try saves once."""

    name = "checkpoint.now"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Write the wish."""
        return await wish(request, ports, {SETTING: request.id})
