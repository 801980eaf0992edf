"""Put the next checkpoint off by some steps, so that a slow save does not hit a job that is already slow."""

from typing import Annotated

from msgspec import Meta

from playbooks.actions.action import Params, Risk
from playbooks.actions.setting import wish
from playbooks.ports import Ports
from playbooks.retry import Ending, Refused
from schemas.action import Request

SETTING = "checkpoint.defer_until_step"
MOST_STEPS = 2000
"""At 2.4 s a step this already puts 80 minutes of training at stake; more is for a person to decide."""


class CheckpointDeferParams(Params, frozen=True, kw_only=True):
    """How far.

    Attributes:
        steps: no checkpoint before that many steps after the step of the request.
    """

    steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] = 300


class CheckpointDefer:
    """Wish `checkpoint.defer_until_step`; it lapses by itself when the step is reached."""

    name = "checkpoint.defer"
    params = CheckpointDeferParams
    reversible = True
    undo = "checkpoint.restore"
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: CheckpointDeferParams, ports: Ports) -> Ending:
        """Write the wish, counted from the step at which it was decided."""
        if request.step is None:
            return Refused("the request names no step to count from")
        return await wish(request, ports, {SETTING: request.step + params.steps})
