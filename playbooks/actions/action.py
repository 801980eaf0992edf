"""What an action is: a name, its parameters, what it puts at risk, and one try of it."""

from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

from playbooks.ports import Ports
from playbooks.retry import Ending, Finished, Refused, Retry
from schemas.action import Request

__all__ = ["Action", "AnyAction", "Ending", "Finished", "NoParams", "Params", "Refused", "Retry", "Risk"]

Risk = Literal["none", "job", "node"]


class Params(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of an action; every one has a default, a field that is not declared is an error."""


class NoParams(Params, frozen=True, kw_only=True):
    """Of an action that leaves nothing to choose."""


P = TypeVar("P", bound=Params)


class Action(Protocol[P]):
    """One thing a playbook can do. It classifies what it meets; it never loops and never sleeps.

    Doing it again with the same request changes nothing more, so that a try that was cut off may be repeated.

    Attributes:
        name: its name in playbooks and in the catalogue.
        params: the type of its parameters.
        reversible: whether it can be undone.
        undo: name of the action that undoes it; "" where a person must, or nothing can.
        risk: what it may harm: `none` where it only tells people or writes down, else the job or the node.
        after_the_end: whether it may run once the incident is over.
    """

    name: str
    params: type[P]
    reversible: bool
    undo: str
    risk: Risk
    after_the_end: bool

    async def run(self, request: Request, params: P, ports: Ports) -> Ending:
        """Try once.

        Args:
            request: what was decided, with target, attempt and step.
            params: checked against `params`.
            ports: all it may touch.
        """
        ...


AnyAction = Action[Any]  # Any: a catalogue holds actions of different parameters
