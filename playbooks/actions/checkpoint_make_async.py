"""Let checkpoints be written beside the training instead of pausing it."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.setting import wish
from playbooks.ports import Ports
from playbooks.retry import Ending
from schemas.action import Request

SETTING = "checkpoint.mode"


class CheckpointMakeAsync:
    """Wish `checkpoint.mode` = async; holds until it is given back or the attempt ends."""

    name = "checkpoint.make_async"
    params = NoParams
    reversible = True
    undo = "checkpoint.restore"
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Write the wish."""
        return await wish(request, ports, {SETTING: "async"})
