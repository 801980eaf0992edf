"""The live stream: server-sent events that a reader resumes where it broke off."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from streams.feed.envelope import PREFIX, STREAMED, Envelope, envelop
from streams.feed.problems import FieldFault, Problem
from streams.stores.store import Archive, StoreAway

RETRY_MILLISECONDS = 3_000
LOOK_SECONDS = 0.25
BATCH = 100


def resumed_after(
    header: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
    query: Annotated[str | None, Query(alias="last_event_id")] = None,
) -> int | None:
    """Read where a reader broke off; None starts with what comes next. A reconnecting browser sends the header."""
    given, place = (header, "header.last-event-id") if header else (query, "query.last_event_id")
    if not given:
        return None
    if not given.isdecimal():
        fault = FieldFault(place, f"the id of an event is expected, not {given!r}")
        raise Problem(400, fault.detail, errors=[fault])
    return int(given)


class Stream:
    """`/stream`.

    Every reader goes through the archive at its own pace, so a slow one holds up nobody and nothing is kept for it.
    Comments keep an idle connection open, one every 15 seconds.

    Args:
        closing: set when the server is about to stop; streams then end.
    """

    def __init__(self, archive: Archive, closing: threading.Event) -> None:
        self._archive = archive
        self._closing = closing

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["stream"])
        router.add_api_route("/stream", self.events, methods=["GET"], response_class=EventSourceResponse)
        return router

    async def events(
        self, after: Annotated[int | None, Depends(resumed_after)], job: str = ""
    ) -> AsyncIterator[ServerSentEvent]:
        """Stream changes of incidents and actions as CloudEvents, of one job or all, from the given id or from now."""
        # Read before the first word: whoever has heard that the stream stands misses nothing filed from then on.
        last = await run_in_threadpool(self._archive.last)
        yield ServerSentEvent(comment="trainmaster", retry=RETRY_MILLISECONDS)
        place = last if after is None else after
        if place > last and await run_in_threadpool(self._is_unknown, place):
            # The archive is a younger one than the reader knows: what it remembers is of no use here.
            yield ServerSentEvent(event=f"{PREFIX}reset", id=str(last), raw_data="{}")
            place = last
        while not self._closing.is_set():
            events, place = await run_in_threadpool(self._next, place)
            for envelope in events:
                if job in {"", envelope.job}:
                    yield ServerSentEvent(event=envelope.type, id=str(envelope.sequence), raw_data=envelope.event)
            if not events:
                await asyncio.sleep(LOOK_SECONDS)

    def _is_unknown(self, place: int) -> bool:
        """Whether a place was never told by anybody; another server may be ahead of this one, and is caught up with."""
        try:
            return place > self._archive.horizon()
        except StoreAway:
            return False

    def _next(self, place: int) -> tuple[list[Envelope], int]:
        filed = self._archive.feed(place, BATCH, STREAMED)
        return [envelop(one, self._archive) for one in filed], filed[-1].sequence if filed else place
