"""Wishes to a trainer: what every action that changes the control document has in common.

The trainer takes a wish up at its next step and acknowledges it through telemetry; here it is only written down.
"""

from collections.abc import Mapping

from playbooks.ports import NotAllowed, Ports
from playbooks.retry import Ending, Finished, Refused
from schemas.action import Request


async def wish(request: Request, ports: Ports, settings: Mapping[str, str | int]) -> Ending:
    """Write settings into the control document of the request's job."""
    try:
        control = await ports.trainer.set(request.job, request.attempt, settings, request.id)
    except NotAllowed as fault:
        return Refused(str(fault))
    wished = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return Finished(f"control document {control.version}: {wished}")


async def give_back(request: Request, ports: Ports, names: tuple[str, ...]) -> Ending:
    """Take settings out of the control document, so that the trainer's own way holds again."""
    try:
        control = await ports.trainer.clear(request.job, request.attempt, names)
    except NotAllowed as fault:
        return Refused(str(fault))
    return Finished(f"control document {control.version}: {', '.join(names)} given back to the trainer")
