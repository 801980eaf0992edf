"""Jobs over HTTP: which there are, how they went, which of their steps are contaminated, what could not be read."""

import math
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from schemas.telemetry import LATEST_TIME
from streams.feed.reply import json_reply
from streams.stores.store import Archive, Point


class Jobs:
    """`/jobs`, `/taints` and `/dead`."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["jobs"])
        router.add_api_route("/jobs", self.jobs, methods=["GET"])
        router.add_api_route("/jobs/{job:path}/series", self.series, methods=["GET"])
        router.add_api_route("/taints", self.taints, methods=["GET"])
        router.add_api_route("/dead", self.dead, methods=["GET"])
        return router

    def jobs(self) -> Response:
        """List the jobs seen, latest first."""
        return json_reply({"items": self._archive.jobs()})

    def series(
        self,
        job: str,
        of: Annotated[str, Query(pattern="^(step|gpu|node|nic|disk|mount|job)$")] = "step",
        begin: Annotated[float, Query(ge=0)] = 0.0,
        end: Annotated[float, Query(ge=0)] = LATEST_TIME,
        points: Annotated[int, Query(ge=2, le=20_000)] = 1_500,
    ) -> Response:
        """Give vitals of a job as columns, at most `points`, extremes stay; null: absent, NaN: not finite."""
        found = self._archive.series(job, of, begin, end, points)
        return json_reply({"job": job, "of": of, **_columns(found)})

    def taints(self, job: str = "") -> Response:
        """Give the ledger of contaminated steps, of one job or all."""
        return json_reply({"items": self._archive.taints(job)})

    def dead(self, limit: Annotated[int, Query(ge=1, le=1_000)] = 100) -> Response:
        """Give the newest records that could not be read, with the reason."""
        return json_reply({"items": self._archive.dead(limit)})


def _columns(points: list[Point]) -> dict[str, object]:
    """Turn points into columns of equal length: a page draws columns, and names travel once."""
    names = sorted({name for point in points for name in point.values})
    return {
        "time": [point.time for point in points],
        "step": [point.step for point in points],
        "values": {name: [_on_wire(point, name) for point in points] for name in names},
    }


def _on_wire(point: Point, name: str) -> float | None:
    """Give an absent reading as None and a lost one as NaN, which is spelled out on the wire as everywhere."""
    value = point.values.get(name)
    return math.nan if value is None and name in point.values else value
