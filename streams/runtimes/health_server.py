"""/livez, /readyz and /metrics of a process without a page, on loopback."""

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

HOST = "127.0.0.1"


class HealthServer:
    """Answers probes.

    Args:
        port: where to listen; 0 takes a free one.
        faults: says what keeps the process from being ready; nothing means it is.
        registry: the metrics shown.
    """

    def __init__(self, port: int, faults: Callable[[], list[str]], registry: CollectorRegistry) -> None:
        self._port, self._faults, self._registry = port, faults, registry
        app = web.Application()
        app.router.add_get("/livez", self._alive)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self) -> str:
        """Listen; give the address.

        Raises:
            OSError: the port is taken.
        """
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self._port)
        await site.start()
        port = self._runner.addresses[0][1]
        return f"http://{HOST}:{port}"

    async def stop(self) -> None:
        """End."""
        await self._runner.cleanup()

    async def _alive(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _: web.Request) -> web.Response:
        faults = self._faults()
        return web.json_response({"ready": not faults, "faults": faults}, status=503 if faults else 200)

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})
