"""Orders to the scheduler: how its answers are classified, and the reason it is given."""

from collections.abc import Awaitable

from playbooks.ports import NotAllowed, NotConfigured
from playbooks.retry import Ending, Finished, Refused, Retry
from schemas.action import Request


async def order(answer: Awaitable[str]) -> Ending:
    """Wait for the scheduler's answer; only for orders that are harmless twice."""
    try:
        return Finished(await answer)
    except (NotConfigured, NotAllowed) as fault:
        return Refused(str(fault))
    except ConnectionError as fault:
        return Retry(str(fault))


def reason(request: Request) -> str:
    r"""Say in one line, for the scheduler's own records, who wants it and why.

    >>> from schemas.action import Request
    >>> reason(Request(id="r1", incident="i1", job="j", attempt=1, playbook="p", action="job.stop", target="j",
    ...                decision="act", time=0.0, summary="loop of\nfailures"))
    'trainmaster incident i1, request r1: loop of failures'
    """
    return f"trainmaster incident {request.incident}, request {request.id}: {' '.join(request.summary.split())}"[:200]
