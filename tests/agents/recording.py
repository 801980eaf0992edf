"""A real HTTP server on loopback that keeps what it was sent, and that can be away, slow, busy or particular."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from schemas.action import Control
from schemas.codec import BadRecord, decode, encode, split
from schemas.telemetry import Event, SampleFrame, StepFrame, Tick
from streams.agents.delivery import Delivery, Limits
from streams.agents.http_link import HttpLink

Telemetry = StepFrame | SampleFrame | Event
DEADLINE_SECONDS = 20.0


class RecordingServer:
    """Answers as the feed does.

    Attributes:
        status: what it answers to telemetry; 200 takes it.
        refuse: bytes that no record may contain.
        delay: seconds before it answers.
        bodies: what it took, one body each.
        controls: the documents it gives out, by job.
        asked: how often it was asked for a document, by the status of the answer.
    """

    def __init__(self, token: str | None = None, port: int = 0) -> None:
        self._token, self.port = token, port
        self.status, self.delay, self.refuse = 200, 0.0, b""
        self.headers: dict[str, str] = {}
        self.page: str | None = None
        self.posts = 0
        self.bodies: list[list[bytes]] = []
        self.controls: dict[str, Control] = {}
        self.asked: dict[int, int] = {}

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/api/v1/telemetry", self._take)
        app.router.add_get("/api/v1/control/{job}", self._control)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[bytes]:
        """All it took, in order of arrival."""
        return [line for body in self.bodies for line in body]

    @property
    def records(self) -> list[Telemetry]:
        """All it took, read; a repetition by node, start and number counts once."""
        seen: dict[tuple[str, str, int], Telemetry] = {}
        for line in self.lines:
            record = decode(line)
            assert not isinstance(record, Tick)
            seen.setdefault((record.node, record.boot, record.seq), record)
        return list(seen.values())

    @property
    def events(self) -> list[Event]:
        """The events among the records."""
        return [record for record in self.records if isinstance(record, Event)]

    @property
    def frames(self) -> list[StepFrame]:
        """The step frames among the records."""
        return [record for record in self.records if isinstance(record, StepFrame)]

    def events_named(self, name: str) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if event.event == name]

    async def _take(self, request: web.Request) -> web.Response:
        self.posts += 1
        body = await request.read()
        await asyncio.sleep(self.delay)
        if self._token and request.headers.get("Authorization") != f"Bearer {self._token}":
            return web.Response(status=401)
        if self.page is not None:
            return web.Response(text=self.page)
        if self.status != 200:
            return web.Response(status=self.status, headers=self.headers)
        if self.refuse and self.refuse in body:
            return web.Response(status=400, text="a record may not be")
        lines = split(body)
        self.bodies.append(lines)
        rejected = sum(isinstance(_read(line), BadRecord) for line in lines)
        answer = {"accepted": len(lines) - rejected, "rejected": rejected, "offset": len(self.lines), "faults": []}
        return web.Response(text=json.dumps(answer), content_type="application/json")

    async def _control(self, request: web.Request) -> web.Response:
        control = self.controls.get(request.match_info["job"])
        tag = f'"{control.version}"' if control else ""
        status = 204 if control is None else 304 if request.headers.get("If-None-Match") == tag else 200
        self.asked[status] = self.asked.get(status, 0) + 1
        if control is None or status == 304:
            return web.Response(status=status)
        return web.Response(body=encode(control), content_type="application/json", headers={"ETag": tag})


@asynccontextmanager
async def delivering(
    url: str, spool: Path, limits: Limits, token: str | None = None, timeout: float = 2.0
) -> AsyncIterator[Delivery]:
    """Deliver to a server over HTTP."""
    async with HttpLink(url, token, timeout) as link, Delivery(link, spool, limits) as delivery:
        yield delivery


def _read(line: bytes) -> object:
    try:
        return decode(line)
    except BadRecord as fault:
        return fault


async def until(condition: Callable[[], object], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Wait for a condition, and fail with its name when it does not come true in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.01)


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Run an asynchronous story to its end."""

    async def told() -> None:
        await story()

    asyncio.run(told())
