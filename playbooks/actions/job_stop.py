"""Stop a job that only burns GPU hours."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.order import order, reason
from playbooks.ports import Ports
from playbooks.retry import Ending
from schemas.action import Request


class JobStop:
    """Order a stop; a job that is stopped stays stopped."""

    name = "job.stop"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Order it."""
        return await order(ports.scheduler.stop(request.job, reason(request)))
