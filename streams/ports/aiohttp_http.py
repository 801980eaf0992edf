"""Outgoing HTTP through aiohttp."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar

from playbooks.ports import Reply
from streams.clock import unix_seconds

MOST_BODY = 65536


class AiohttpHttp:
    """Posts with a time limit; follows no redirects, keeps no cookies. Used as an asynchronous context.

    Args:
        seconds: for one post as a whole.
    """

    def __init__(self, seconds: float = 15.0) -> None:
        self._timeout = ClientTimeout(total=seconds)
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = ClientSession(timeout=self._timeout, cookie_jar=DummyCookieJar())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a body; redirects are not followed.

        Raises:
            ConnectionError: nobody answered in time; neither address nor host is in the message.
        """
        if self._session is None:
            raise ConnectionError("not open")
        try:
            async with self._session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                answered = await response.content.read(MOST_BODY)
                return Reply(response.status, answered, _retry_after(response))
        except TimeoutError:
            raise ConnectionError("timed out") from None
        except (ClientError, OSError, ValueError) as fault:
            # The message of the original names host and address, so only its kind goes on.
            raise ConnectionError(type(fault).__name__) from None


def _retry_after(response: ClientResponse) -> float | None:
    return wait_asked(response.headers.get("Retry-After", ""), unix_seconds())


def wait_asked(header: str, now: float) -> float | None:
    """Read the header Retry-After: seconds, or a date; None where it says nothing usable.

    >>> wait_asked("120", 0.0), wait_asked("Thu, 01 Jan 1970 00:01:30 GMT", 60.0), wait_asked("soon", 0.0)
    (120.0, 30.0, None)
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None
