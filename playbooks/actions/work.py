"""A request cut into pieces that are each run once, and what became of them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from playbooks.actions.action import AnyAction, Params
from playbooks.actions.notify import NotifyParams, kind_of, message_key
from schemas.action import Request
from schemas.incident import Incident

Ended = Literal["done", "failed", "refused", "expired"]
_WORST_FIRST: tuple[Ended, ...] = ("failed", "expired", "refused", "done")


class Work(Struct, frozen=True, kw_only=True):
    """A piece.

    Attributes:
        name: of the sink, "" for an action that is one piece.
        key: idempotency key; work that ended under it, well or not, is never run again.
        message: key of the message it carries, or ""; a message that arrived is never sent again, whoever asks.
        target: what nobody else may act on meanwhile.
        params: of the action, for this piece.
    """

    name: str
    key: str
    message: str
    target: str
    params: Params


class Outcome(Struct, frozen=True):
    """How a piece or a whole request ended.

    >>> Outcome.read(Outcome("failed", "HTTP 503: gave up").note())
    Outcome(ended='failed', detail='HTTP 503: gave up', tries=1)
    """

    ended: Ended
    detail: str
    tries: int = 1

    def note(self) -> str:
        """Write it in one line, to be kept with the idempotency key."""
        return f"{self.ended}: {self.detail}"

    @classmethod
    def read(cls, note: str) -> "Outcome":
        """Read the line back."""
        word, _, detail = note.partition(": ")
        return cls(next((ended for ended in _WORST_FIRST if ended == word), "failed"), detail)


def pieces(
    request: Request, action: AnyAction, params: Params, revisions: Sequence[Incident], sinks: Mapping[str, str]
) -> list[Work]:
    """Cut a request: a message makes one piece for each sink, anything else is one piece.

    Args:
        request: the decision.
        action: what it runs.
        params: checked.
        revisions: of its incident, oldest first, at least one.
        sinks: kinds by name.
    """
    if not isinstance(params, NotifyParams):
        target = request.id if action.risk == "none" else request.target
        return [Work(name="", key=request.id, message="", target=target, params=params)]
    kind = params.kind or kind_of(revisions)
    cut = []
    for sink in params.sinks or tuple(sinks):
        message = message_key(revisions[-1], kind, sink)
        mine = structs.replace(params, sinks=(sink,), kind=kind)
        cut.append(Work(name=sink, key=f"{request.id}/{sink}", message=message, target=message, params=mine))
    return cut


def together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Sum up the pieces of a request: it is as bad as the worst of them.

    >>> together({"chat": Outcome("failed", "HTTP 503", 6), "pager": Outcome("done", "told as opened")})
    Outcome(ended='failed', detail='chat: failed, HTTP 503; pager: done, told as opened', tries=6)
    """
    if list(outcomes) == [""]:
        return outcomes[""]
    worst = min((outcome.ended for outcome in outcomes.values()), key=_WORST_FIRST.index)
    detail = "; ".join(f"{name}: {outcome.ended}, {outcome.detail}" for name, outcome in outcomes.items())
    return Outcome(worst, detail, max(outcome.tries for outcome in outcomes.values()))
