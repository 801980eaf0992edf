"""`trainmaster api`: ingest, feed and page over Kafka, side by side with others of its kind."""

import asyncio
import signal
from collections.abc import Callable

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from starlette.responses import PlainTextResponse, Response

from streams.feed.app import create_app
from streams.feed.problems import Problem
from streams.feed.reply import json_reply
from streams.feed.server import FeedServer, address
from streams.install import installed_causes
from streams.kafka.copy import Copy
from streams.settings import Settings

STARTING_SECONDS = 0.02


class CopyHealth:
    """`/livez`, `/readyz` and `/metrics` of a process that answers from a copy.

    Args:
        copy: the stores.
    """

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._registry = CollectorRegistry()
        Gauge("trainmaster_copy_age_seconds", "since the copy was whole", registry=self._registry).set_function(
            copy.mirror.age
        )

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["health"])
        router.add_api_route("/livez", self.alive, methods=["GET"])
        router.add_api_route("/readyz", self.ready, methods=["GET"])
        router.add_api_route("/metrics", self.metrics, methods=["GET"])
        return router

    async def alive(self) -> Response:
        """Answer at all."""
        return PlainTextResponse("ok\n")

    def ready(self) -> Response:
        """Say whether the copy is whole and fresh, and whether Redis answers."""
        faults = self._copy.faults()
        if faults:
            raise Problem(503, f"{'; '.join(faults)}.", more={"ready": False, "faults": faults})
        return json_reply({"ready": True, "faults": []})

    def metrics(self) -> Response:
        """Give the metrics as Prometheus reads them."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class ApiProcess:
    """One server with everything around it.

    Args:
        settings: of the installation.

    Raises:
        BadSettings, BadPlaybook, NoKafka, NoRedis: it cannot work; nothing was started.
        OpenToEveryone: it would listen to other machines without a token.
    """

    def __init__(self, settings: Settings) -> None:
        causes = [cause.cause for cause in installed_causes(settings)]
        self._copy = Copy(settings, "api")
        token = settings.token.get_secret_value() if settings.token is not None else None
        app = create_app(
            self._copy.intake,
            self._copy.archive,
            self._copy.leases,
            self._copy.numbers,
            CopyHealth(self._copy),
            wake=lambda: None,
            causes=causes,
            token=token,
        )
        self._server = FeedServer(app, settings.host, settings.port, token)

    async def run(self, ready: Callable[[str], None] = lambda _: None) -> None:
        """Serve until the process is told to end.

        Args:
            ready: called with the page's address once the server listens.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)
        try:
            async with asyncio.TaskGroup() as group:
                mirror = group.create_task(self._copy.mirror.run())
                mirror.add_done_callback(lambda _: self._stop())
                announcing = group.create_task(self._announce(ready))
                await self._server.serve()
                mirror.cancel()
                announcing.cancel()
        finally:
            self._copy.close()

    def _stop(self) -> None:
        self._server.should_exit = True

    async def _announce(self, ready: Callable[[str], None]) -> None:
        while not self._server.started:
            await asyncio.sleep(STARTING_SECONDS)
        ready(address(self._server))
