"""The agent's way over HTTP: posts to the ingest, and asks for control documents."""

import logging
import urllib.parse
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from streams.agents.link import Away, Refused

log = logging.getLogger(__name__)


class HttpLink:
    """One server.

    Args:
        url: the server's address.
        token: sent as a bearer token; never shown.
        timeout: seconds until a request counts as failed.
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 10.0) -> None:
        self._url, self._timeout = url.rstrip("/") + "/api/v1", timeout
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._etags: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(headers=self._headers, timeout=aiohttp.ClientTimeout(total=self._timeout))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        await self._session.close()

    async def deliver(self, job: str, lines: Sequence[bytes]) -> None:  # noqa: ARG002 - the lines name it
        """Post records of one job.

        Raises:
            Away: the server did not take them.
            Refused: the server says that it never will.
        """
        body, headers = b"\n".join(lines) + b"\n", {"Content-Type": "application/x-ndjson"}
        try:
            async with self._session.post(
                f"{self._url}/telemetry", data=body, headers=headers, allow_redirects=False
            ) as answer:
                text = (await answer.read()).decode("utf-8", "replace")
        except (aiohttp.ClientError, TimeoutError, OSError) as fault:
            raise Away(type(fault).__name__) from None
        if answer.status in (400, 413, 422):
            raise Refused(f"{answer.status} {text[:200]}")
        if not 200 <= answer.status < 300:
            raise Away(f"status {answer.status}", _seconds(answer.headers.get("Retry-After", "")))
        _note_rejected(text)

    async def control(self, job: str) -> bytes | None:
        """Ask for the control document of a job; None where it is the one given before, or there is none.

        Raises:
            OSError: the server did not answer.
        """
        address = URL(f"{self._url}/control/{urllib.parse.quote(job, safe='')}", encoded=True)
        headers = {"If-None-Match": self._etags[job]} if job in self._etags else {}
        try:
            async with self._session.get(address, headers=headers, allow_redirects=False) as answer:
                if answer.status != 200:
                    return None
                body, etag = await answer.read(), answer.headers.get("ETag", "")
        except (aiohttp.ClientError, TimeoutError) as fault:
            raise ConnectionError(f"no control document: {type(fault).__name__}") from None
        if etag:
            self._etags[job] = etag
        return body


class _Answer(Struct):
    accepted: int
    rejected: int = 0


_answer = msgspec.json.Decoder(_Answer)


def _note_rejected(text: str) -> None:
    """Look at the answer of a server that took the records; a proxy's friendly page is no such answer."""
    try:
        answer = _answer.decode(text)
    except msgspec.DecodeError:
        raise Away("the answer is not the server's") from None
    if answer.rejected:
        log.warning("the server could not read %d records: %s", answer.rejected, text[:500])


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() else 0.0
