"""One post, and what its answer means; the same for every sink."""

from collections.abc import Mapping
from http import HTTPStatus

from playbooks.ports import Http, Reply
from playbooks.retry import Delivered, Delivery, Disabled, Refused, Retry
from playbooks.sinks.secret import Secret, hide

_LATER = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)


async def post(
    http: Http, address: Secret, body: bytes, headers: Mapping[str, str], secrets: tuple[Secret, ...] = ()
) -> Delivery:
    """Send a body once.

    Args:
        http: the way out.
        address: where to.
        body: what.
        headers: with the content type.
        secrets: what else must not appear in the reason of a failure.
    """
    try:
        reply = await http.post(address.reveal(), body, headers)
    except ConnectionError as fault:
        return Retry(hide(f"no answer: {fault}", address, *secrets))
    return classify(reply)


def classify(reply: Reply) -> Delivery:
    """Say what an answer means for the message: arrived, try again, or never.

    The body is left out: a server may repeat in it what it was sent.

    >>> classify(Reply(status=429, retry_after=7.0))
    Retry(reason='HTTP 429 Too Many Requests', after=7.0)
    """
    words = f"HTTP {reply.status} {_phrase(reply.status)}".rstrip()
    if HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
        return Delivered(words)
    if reply.status in _LATER or reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Retry(words, reply.retry_after)
    if reply.status == HTTPStatus.GONE:
        return Disabled(f"{words}: the receiver wants no more messages")
    if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        return Refused(f"{words}: redirects are not followed")
    return Refused(words)


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
