"""Events of other systems over HTTP: Alertmanager's webhook, NVSentinel and any other sender of CloudEvents."""

from collections.abc import Callable, Iterable, Iterator

from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from schemas.codec import encode
from schemas.ids import derived_id
from schemas.telemetry import Event
from streams.agents.events.alertmanager import alerts
from streams.agents.events.arrived import Arrived, NotReadable
from streams.agents.events.cloud_event import cloud_events
from streams.clock import unix_seconds
from streams.feed.body import read_body
from streams.feed.problems import Problem
from streams.feed.reply import json_reply
from streams.stores.store import Intake

_CLUSTER = "default"
_LONGEST = 256
Reader = Callable[[bytes], Iterator[Arrived]]


class Received(Struct, frozen=True):
    """How many events a body held that matter."""

    accepted: int


class Foreign:
    """`POST /alerts` and `POST /cloudevents`; what is sent again is the same event again.

    Args:
        wake: called after records were appended, on the event loop's thread.
    """

    def __init__(self, intake: Intake, wake: Callable[[], None]) -> None:
        self._intake, self._wake = intake, wake

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["events of others"])
        router.add_api_route("/alerts", self.alerts, methods=["POST"])
        router.add_api_route("/cloudevents", self.cloud_events, methods=["POST"])
        return router

    async def alerts(self, request: Request) -> Response:
        """Take the alerts of an Alertmanager webhook."""
        return await self._take(request, alerts)

    async def cloud_events(self, request: Request) -> Response:
        """Take a CloudEvent as JSON, or a batch of them."""
        return await self._take(request, cloud_events)

    async def _take(self, request: Request, read: Reader) -> Response:
        body = await read_body(request)
        accepted = await run_in_threadpool(self._append, read, body)
        if accepted:
            self._wake()
        return json_reply(Received(accepted))

    def _append(self, read: Reader, body: bytes) -> int:
        now = unix_seconds()
        try:
            records = list(_records(read(body), now))
        except (NotReadable, ValueError) as fault:
            raise Problem(400, f"The body cannot be read: {fault}.") from None
        if records:
            self._intake.append([(record.job, encode(record)) for record in records], now)
        return len(records)


def _records(arrived: Iterable[Arrived], now: float) -> Iterator[Event]:
    for one in arrived:
        happening = one.happening
        yield Event(
            job=one.job[:_LONGEST] or _CLUSTER,
            attempt=one.attempt,
            node=one.node[:_LONGEST] or one.source[:_LONGEST],
            boot=derived_id(one.source, one.id),
            seq=0,
            time=now if happening.time is None else happening.time,
            event=happening.event,
            subject=happening.subject,
            data=happening.data,
            text=happening.text,
        )
