"""The feed as one ASGI app over the stores."""

import threading
from collections.abc import Callable

from fastapi import APIRouter, FastAPI

from streams.feed import problems
from streams.feed.control import ControlDocuments
from streams.feed.gate import Gate
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


def create_app(
    journal: Journal, archive: Archive, leases: Leases, *, wake: Callable[[], None], token: str | None = None
) -> FastAPI:
    """Build the app: REST and stream under /api/v1, health beside it, the page at /.

    Args:
        wake: called on the event loop's thread whenever the journal has grown; must not wait.
        token: what callers of /api must present as a bearer token; None serves this machine alone.
    """
    operator = Operator(journal, wake)
    closing = threading.Event()
    api = APIRouter(prefix="/api/v1")
    for routes in (
        Ingest(journal, archive, wake),
        Incidents(archive, operator),
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
    app.include_router(Health(journal, archive).router())
    app.include_router(api)
    app.mount("/", Page(), name="page")
    app.add_middleware(Gate, token=token)
    return app
