"""A real HTTP server on loopback that answers what the test has scripted and keeps what it was sent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from msgspec import Struct


class Received(Struct, frozen=True):
    """One request as it came over the wire."""

    path: str
    body: bytes
    headers: dict[str, str]


class Answer(Struct, frozen=True, kw_only=True):
    """What the server shall say."""

    status: int = 200
    headers: dict[str, str] = {}
    text: str = ""


class Receiver:
    """Answers by script, the last answer for ever; begins to listen in `listening`."""

    def __init__(self, *script: Answer) -> None:
        self.script = list(script) or [Answer()]
        self.received: list[Received] = []
        self.address = ""

    async def handle(self, request: web.Request) -> web.Response:
        """Keep what came, say the next line of the script."""
        self.received.append(Received(request.path, await request.read(), dict(request.headers)))
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return web.Response(status=answer.status, headers=answer.headers, text=answer.text)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["Receiver"]:
        """Listen on a free port of the loopback address."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            self.address = f"http://{host}:{port}"
            yield self
        finally:
            await runner.cleanup()
