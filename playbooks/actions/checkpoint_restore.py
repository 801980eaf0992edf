"""Give the checkpoint schedule back to the trainer; undoes `checkpoint.defer` and `checkpoint.make_async`."""

from playbooks.actions import checkpoint_defer, checkpoint_make_async
from playbooks.actions.action import NoParams, Risk
from playbooks.actions.setting import give_back
from playbooks.ports import Ports
from playbooks.retry import Ending
from schemas.action import Request


class CheckpointRestore:
    """Take deferral and mode out of the control document; allowed after the end, for it gives back what was taken."""

    name = "checkpoint.restore"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "job"
    after_the_end = True

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Take the wishes back."""
        return await give_back(request, ports, (checkpoint_defer.SETTING, checkpoint_make_async.SETTING))
