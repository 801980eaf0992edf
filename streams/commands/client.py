"""The commands' way to a running server: its REST API, one call at a time."""

import json
import os
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from schemas.codec import Plain
from streams.commands.output import fail

SECONDS = 10.0
DEFAULT_URL = "http://127.0.0.1:8420"


class Client:
    """Calls a server; whatever goes wrong ends the command with one line and exit code 1.

    Args:
        url: address of the server, without a path.
    """

    def __init__(self, url: str) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            fail(f"--url: http:// or https:// is expected, not {url}")
        self._url = url.rstrip("/")
        self._token = os.environ.get("TRAINMASTER_TOKEN", "")

    def get(self, path: str, **query: object) -> Plain:
        """Read; empty parts of the query are left out."""
        asked = urlencode({name: value for name, value in query.items() if value not in ("", None)})
        return self._call("GET", f"{path}?{asked}" if asked else path, None)

    def post(self, path: str, body: Plain) -> Plain:
        """Write."""
        return self._call("POST", path, json.dumps(body).encode())

    def _call(self, method: str, path: str, body: bytes | None) -> Plain:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        asked = Request(f"{self._url}/api/v1{path}", data=body, headers=headers, method=method)  # noqa: S310 - checked
        try:
            with urlopen(asked, timeout=SECONDS) as answer:  # noqa: S310 - the scheme was checked
                said = answer.read()
        except HTTPError as fault:
            fail(f"{self._url}: {_words(fault.read()) or fault.reason}")
        except (URLError, HTTPException, OSError) as fault:
            fail(f"{self._url}: no answer ({getattr(fault, 'reason', fault)}); is `trainmaster run` running there?")
        return json.loads(said) if said else None


def part(name: str) -> str:
    """Make a name safe for a path."""
    return quote(name, safe="")


def _words(said: bytes) -> str:
    try:
        problem = json.loads(said)
    except ValueError:
        return ""
    return str(problem.get("detail") or problem.get("title") or "") if isinstance(problem, dict) else ""
