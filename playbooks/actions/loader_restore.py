"""Give the loader's path back to the trainer; undoes `loader.use_cache`."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.loader_use_cache import SETTING
from playbooks.actions.setting import give_back
from playbooks.ports import Ports
from playbooks.retry import Ending
from schemas.action import Request


class LoaderRestore:
    """Take `loader.path` out of the control document; allowed after the end, for it gives back what was taken."""

    name = "loader.restore"
    params = NoParams
    reversible = True
    undo = "loader.use_cache"
    risk: Risk = "job"
    after_the_end = True

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Take the wish back."""
        return await give_back(request, ports, (SETTING,))
