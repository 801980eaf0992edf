"""The feed as one ASGI app over the stores."""

import os
import threading
from collections.abc import Callable, Collection
from typing import Protocol

from fastapi import APIRouter, FastAPI

from schemas.ids import derived_id
from streams.clock import unix_seconds
from streams.feed import problems
from streams.feed.control import ControlDocuments
from streams.feed.foreign import Foreign
from streams.feed.gate import Gate
from streams.feed.incidents import Incidents
from streams.feed.ingest import Ingest
from streams.feed.jobs import Jobs
from streams.feed.metrics import Metrics
from streams.feed.operator import Operator
from streams.feed.page import Page
from streams.feed.requests import Requests
from streams.feed.running import Running
from streams.feed.stream import Stream
from streams.feed.switch import Switch
from streams.stores.store import Archive, Intake, Leases, Numbers


class Router(Protocol):
    """Something with routes."""

    def router(self) -> APIRouter:
        """Give its routes."""
        ...


def create_app(
    intake: Intake,
    archive: Archive,
    leases: Leases,
    numbers: Numbers,
    health: Router,
    *,
    wake: Callable[[], None],
    causes: Collection[str],
    token: str | None = None,
    boot: str = "",
) -> FastAPI:
    """Build the app: REST and stream under /api/v1, health beside it, the page at /.

    Args:
        intake: takes telemetry and what operators say.
        health: the routes that say how the process is.
        wake: called on the event loop's thread whenever something came in; must not wait.
        causes: names of the catalogue, for the verdicts of people.
        token: what callers of /api must present as a bearer token; None serves this machine alone.
        boot: id of this start of the server; "" makes one of the clock.
    """
    boot = boot or derived_id("feed", unix_seconds(), os.getpid())
    operator, running = Operator(intake, numbers, wake), Running()
    closing = threading.Event()
    api = APIRouter(prefix="/api/v1")
    for routes in (
        Ingest(intake, archive, wake, running),
        Metrics(intake, wake, boot, running),
        Foreign(intake, wake),
        Incidents(archive, operator, causes),
        Requests(archive, leases, operator),
        ControlDocuments(archive),
        Stream(archive, closing),
        Jobs(archive),
        Switch(leases),
    ):
        api.include_router(routes.router())
    # The built-in documentation pages load scripts from elsewhere; the description alone does not.
    app = FastAPI(title="Trainmaster", version="1", openapi_url="/api/v1/openapi.json", docs_url=None, redoc_url=None)
    app.state.closing = closing
    problems.install(app)
    app.include_router(health.router())
    app.include_router(api)
    app.mount("/", Page(), name="page")
    app.add_middleware(Gate, token=token)
    return app
