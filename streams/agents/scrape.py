"""Scraping exporters on the node: dcgm-exporter, node_exporter, NCCL Inspector, as they are."""

import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from urllib.error import URLError
from urllib.parse import urlsplit

from streams.agents.finding import Finding
from streams.agents.series.reader import SeriesReader, is_wanted
from streams.agents.series.series import on_page
from streams.clock import monotonic_seconds, unix_seconds

_MOST_BYTES = 32 << 20
_ACCEPT = "text/plain;version=0.0.4"


class Scrape:
    """Asks one exporter; what it says between two of its own samples is the same again.

    Args:
        url: its page.
        every: seconds from one question to the next; other looks give nothing.
        timeout: seconds to wait for the page.
    """

    def __init__(self, url: str, every: float = 15.0, timeout: float = 4.0) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"scrape {url}: http:// or https:// is expected")
        self._url, self._every, self._timeout = url, every, timeout
        self._reader, self._asked = SeriesReader(), float("-inf")

    def __call__(self) -> Sequence[Finding]:
        """Ask, when it is time.

        Raises:
            OSError: the exporter does not answer, or not with such a page.
        """
        now = monotonic_seconds()
        if now - self._asked < self._every:
            return []
        self._asked = now
        try:
            found = self._reader.read(on_page(self._page(), is_wanted), unix_seconds())
        except ValueError as fault:
            raise OSError(f"{self._url}: {fault}") from None
        return [each.finding for each in found]

    def _page(self) -> str:
        asked = urllib.request.Request(self._url, headers={"Accept": _ACCEPT})  # noqa: S310 - the scheme was checked
        try:
            with urllib.request.urlopen(asked, timeout=self._timeout) as answer:  # noqa: S310
                body: bytes = answer.read(_MOST_BYTES)
                missing = answer.length if len(body) < _MOST_BYTES else 0
        except URLError as fault:
            raise OSError(f"{self._url}: {fault.reason}") from None
        except HTTPException as fault:
            raise OSError(f"{self._url}: no answer of an exporter: {type(fault).__name__}") from None
        if missing:
            raise OSError(f"{self._url}: the page was cut off")
        whole = body[: body.rfind(b"\n") + 1]  # half a line would be another number
        return whole.decode("utf-8", "replace")
