"""Readers of the feed that go from one server to another."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from typing import Any

from msgspec import Struct

from tests.kafka.installation import Process

SECONDS = 60.0


class Heard(Struct, frozen=True):
    """One event of the stream."""

    id: int
    event: str
    data: str


class Reader:
    """Listens to the stream of a server on a thread, until it is told to leave.

    Args:
        server: which one.
        after: the last event that was heard elsewhere; None: from now on.
    """

    def __init__(self, server: Process, after: int | None) -> None:
        head = {} if after is None else {"Last-Event-ID": str(after)}
        self._connection = HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        self._connection.request("GET", "/api/v1/stream", headers=head)
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        self.heard: list[Heard] = []
        self._answer.readline()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def leave(self) -> list[Heard]:
        """Go; give what was heard."""
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(SECONDS)
        self._connection.close()
        return self.heard

    def _listen(self) -> None:
        fields: dict[str, str] = {}
        with contextlib.suppress(OSError, HTTPException):
            for line in self._answer:
                name, _, value = line.decode().rstrip("\r\n").partition(": ")
                if name:
                    fields[name] = value
                    continue
                if "event" in fields:
                    self.heard.append(Heard(int(fields["id"]), fields["event"], fields.get("data", "")))
                fields = {}


def pages(servers: list[Process], path: str, limit: int) -> Iterator[Any]:
    """Every item of a list, page by page, each page from the next server."""
    cursor, turn = 0, 0
    while cursor is not None:
        page = servers[turn % len(servers)].get(f"{path}?limit={limit}&cursor={cursor}")
        yield from page["items"]
        cursor, turn = page["next_cursor"], turn + 1
