"""Metrics of others over HTTP: Prometheus remote_write and OTLP become telemetry of the nodes they speak of."""

import threading
from collections.abc import Callable, Iterable

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from schemas.codec import encode
from streams.agents.series.reader import NodeFinding, SeriesReader, is_wanted
from streams.agents.series.rounds import Rounds
from streams.agents.series.series import Series
from streams.agents.stamp import Stamp
from streams.clock import unix_seconds
from streams.feed import otlp, remote_write
from streams.feed.body import read_body, read_packed
from streams.feed.problems import Problem
from streams.feed.running import Running
from streams.stores.store import Intake

_SOURCE = "collector"
_CLUSTER = "default"


class Metrics:
    """`POST /write` and `POST /otlp/v1/metrics`; series that no alias names are dropped at once.

    Args:
        wake: called after records were appended, on the event loop's thread.
        running: knows which jobs speak.
        boot: id of this start; with the number it makes a record this process's own.
    """

    def __init__(self, intake: Intake, wake: Callable[[], None], boot: str, running: Running) -> None:
        self._intake, self._wake, self._boot, self._running = intake, wake, boot, running
        self._lock = threading.Lock()
        self._reader, self._rounds = SeriesReader(), Rounds()
        self._stamps: dict[str, Stamp] = {}

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["metrics"])
        router.add_api_route("/write", self.write, methods=["POST"], status_code=204)
        router.add_api_route("/otlp/v1/metrics", self.otlp, methods=["POST"])
        return router

    async def write(self, request: Request) -> Response:
        """Take a remote_write request of either version."""
        body = await read_packed(request, "snappy")
        version_2 = remote_write.VERSION_2 in request.headers.get("content-type", "")
        samples = await run_in_threadpool(self._write, body, version_2)
        self._wake()
        return Response(status_code=204, headers=_written(samples) if version_2 else None)

    async def otlp(self, request: Request) -> Response:
        """Take OTLP metrics; protobuf, or JSON, which costs a hundred times as much to read."""
        body = await read_body(request)
        as_json = request.headers.get("content-type", "").startswith("application/json")
        await run_in_threadpool(self._otlp, body, as_json)
        self._wake()
        kind = "application/json" if as_json else "application/x-protobuf"
        return Response(otlp.reply(as_json), media_type=kind)

    def _write(self, body: bytes, version_2: bool) -> int:
        try:
            series = list(remote_write.series_of(remote_write.unpack(body), version_2))
        except remote_write.NotReadable as fault:
            raise Problem(400, f"The body cannot be read: {fault}.") from None
        self.take(series, unix_seconds())
        return len(series)

    def _otlp(self, body: bytes, as_json: bool) -> None:
        try:
            series = list(otlp.series_of(body, as_json))
        except remote_write.NotReadable as fault:
            raise Problem(400, f"The body cannot be read: {fault}.") from None
        self.take(series, unix_seconds())

    def take(self, series: Iterable[Series], now: float) -> None:
        """Gather series, and append the records of the rounds that are complete."""
        with self._lock:
            self._rounds.add(
                (one for one in series if is_wanted(one.name) and 0 <= (one.time or now) < now + 3600), now
            )
            found = [each for group in self._rounds.due(now) for each in self._reader.read(group, now)]
            records = [self._stamp(each.node).record(self._of(each, now), 0, now, each.finding) for each in found]
            if records:
                self._intake.append([(record.job, encode(record)) for record in records], now)

    def _of(self, found: NodeFinding, now: float) -> str:
        """A GPU's readings belong to the job on its label while that speaks itself, else to the cluster.

        Readings alone would make a job of which nobody says that it ends: its end would look like a fault.
        """
        return found.job if self._running.runs(found.job, now) else _CLUSTER

    def _stamp(self, node: str) -> Stamp:
        """One source per node and start, so that numbers grow within each."""
        name = node or _SOURCE
        if name not in self._stamps:
            self._stamps[name] = Stamp(name, _CLUSTER, 0.0, 0, boot=f"{self._boot}-metrics")
        return self._stamps[name]


def _written(samples: int) -> dict[str, str]:
    """Senders of version 2 assume failure where the answer does not count what was written."""
    head = "X-Prometheus-Remote-Write"
    return {
        f"{head}-Samples-Written": str(samples),
        f"{head}-Histograms-Written": "0",
        f"{head}-Exemplars-Written": "0",
    }
