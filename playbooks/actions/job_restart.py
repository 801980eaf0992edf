"""Restart a job from its last complete checkpoint."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.order import order, reason
from playbooks.ports import NotAllowed, Ports, Unsettled
from playbooks.retry import Ending
from schemas.action import Request


class JobRestart:
    """Order a restart. Two restarts are not harmless, so an order without an answer is left to a person."""

    name = "job.restart"
    params = NoParams
    reversible = False
    undo = ""
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Order it once."""
        return await order(_once(request, ports))


async def _once(request: Request, ports: Ports) -> str:
    try:
        return await ports.scheduler.restart(request.job, reason(request))
    except Unsettled as fault:
        raise NotAllowed(f"{fault}; whether the job restarts is unknown, look before ordering it again") from fault
