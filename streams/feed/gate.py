"""Who may call: the holder of the token, or with no token only this machine, and never a foreign web page."""

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streams.feed.problems import Problem

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    # Nothing from elsewhere, nothing inline; uPlot sets its sizes through the style object, which this allows.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class OpenToEveryone(ValueError):
    """The feed would listen to other machines without asking them for a token."""


def check_bind(host: str, token: str | None) -> None:
    """Refuse to listen to other machines without a token: whoever reaches the feed may approve actions.

    Raises:
        OpenToEveryone: the host is not loopback and there is no token.

    >>> check_bind("127.0.0.1", None)
    >>> check_bind("0.0.0.0", "a secret")
    """
    if not token and not is_loopback(host):
        raise OpenToEveryone(
            f"host {host!r} is not loopback and no token is set: whoever reaches it could approve actions; "
            "set a token, or listen on 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Tell whether a host name can only mean this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "node-7")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Stands before the app and turns away who may not call.

    Args:
        token: what callers of /api must present; None lets everybody on this machine in.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refusal, or let the call through; either way with the headers that keep a browser strict."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        await (refusal.response() if refusal else self._app)(scope, receive, send_strict)

    def _refusal(self, method: str, path: str, headers: Headers) -> Problem | None:
        if self._token is None and not is_loopback(_host_name(headers.get("host", ""))):
            # A web page may point a name of its own at 127.0.0.1; the browser still says that name.
            return Problem(403, "Without a token only this machine is served, under a loopback name.")
        if method not in _READING and _is_foreign(headers):
            return Problem(403, "Another site's page may not change anything here.")
        if self._token is not None and path.startswith("/api/") and not self._knows_token(headers):
            return Problem(401, "A bearer token is needed.", headers={"WWW-Authenticate": "Bearer"})
        return None

    def _knows_token(self, headers: Headers) -> bool:
        assert self._token is not None
        scheme, _, presented = headers.get("authorization", "").partition(" ")
        # Compared in full, so that the time it takes tells nothing of how much was right.
        return hmac.compare_digest(presented.strip().encode("latin-1"), self._token) and scheme.lower() == "bearer"


def _is_foreign(headers: Headers) -> bool:
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
