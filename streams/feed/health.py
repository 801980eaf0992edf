"""Whether the process lives, and whether the pipeline behind it really gets on."""

from collections.abc import Callable

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from streams.clock import monotonic_seconds
from streams.feed.problems import Problem
from streams.feed.reply import json_reply
from streams.stores.store import Archive, Journal

STUCK_SECONDS = 60.0


class Health:
    """`/livez` and `/readyz`.

    A pipeline that has telemetry to read and has noted no progress for a minute is stuck, whatever else still answers.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, journal: Journal, archive: Archive, clock: Callable[[], float] = monotonic_seconds) -> None:
        self._journal = journal
        self._archive = archive
        self._clock = clock
        self._progress = -1
        self._moved = clock()

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["health"])
        router.add_api_route("/livez", self.alive, methods=["GET"])
        router.add_api_route("/readyz", self.ready, methods=["GET"])
        return router

    async def alive(self) -> Response:
        """Answer at all."""
        return PlainTextResponse("ok\n")

    def ready(self) -> Response:
        """Read both stores and say how far the pipeline is behind."""
        now = self._clock()
        last, progress = self._journal.last(), self._archive.progress()
        if progress != self._progress or progress >= last:
            self._progress, self._moved = progress, now
        standing = now - self._moved
        state = {"journal": last, "said": progress, "behind": max(0, last - progress)}
        if standing > STUCK_SECONDS:
            raise Problem(503, f"The pipeline has noted no progress for {standing:.0f} s.", more=state)
        return json_reply({"ready": True, **state})
