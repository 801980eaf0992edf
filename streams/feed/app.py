"""The feed as one ASGI app over the stores, and the server that runs it."""

from collections.abc import Callable

import uvicorn
from fastapi import APIRouter, FastAPI

from streams.feed import problems
from streams.feed.control import ControlDocuments
from streams.feed.gate import Gate, check_bind
from streams.feed.health import Health
from streams.feed.incidents import Incidents
from streams.feed.ingest import Ingest
from streams.feed.jobs import Jobs
from streams.feed.operator import Operator
from streams.feed.page import Page
from streams.feed.requests import Requests
from streams.feed.stream import Stream
from streams.feed.switch import Switch
from streams.stores.store import Archive, Journal, Leases

STOP_SECONDS = 2


def create_app(
    journal: Journal, archive: Archive, leases: Leases, *, wake: Callable[[], None], token: str | None = None
) -> FastAPI:
    """Build the app: REST and stream under /api/v1, health beside it, the page at /.

    Args:
        wake: called on the event loop's thread whenever the journal has grown; must not wait.
        token: what callers of /api must present as a bearer token; None serves this machine alone.
    """
    operator = Operator(journal, wake)
    api = APIRouter(prefix="/api/v1")
    for routes in (
        Ingest(journal, archive, wake),
        Incidents(archive, operator),
        Requests(archive, leases, operator),
        ControlDocuments(archive),
        Stream(archive),
        Jobs(archive),
        Switch(leases),
    ):
        api.include_router(routes.router())
    # The built-in documentation pages load scripts from elsewhere; the description alone does not.
    app = FastAPI(title="Trainmaster", version="1", openapi_url="/api/v1/openapi.json", docs_url=None, redoc_url=None)
    problems.install(app)
    app.include_router(Health(journal, archive).router())
    app.include_router(api)
    app.mount("/", Page(), name="page")
    app.add_middleware(Gate, token=token)
    return app


def create_server(app: FastAPI, host: str, port: int, token: str | None = None) -> uvicorn.Server:
    """Build the server of the app; streams that are open at the end are cut after two seconds.

    Raises:
        OpenToEveryone: it would listen to other machines without a token.
    """
    check_bind(host, token)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host,
            port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
    )
