"""Telemetry over HTTP: what is answered is in the journal, what could not be read is in the archive."""

from collections.abc import Callable
from hashlib import blake2b

from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from schemas.codec import BadRecord, decode, split
from schemas.telemetry import Tick
from streams.clock import unix_seconds
from streams.dead_letter import dead_letter
from streams.feed.body import read_body
from streams.feed.problems import Problem
from streams.feed.reply import json_reply
from streams.feed.running import Running
from streams.stages.stage import Sent
from streams.stores.store import Archive, Intake

FAULTS_SHOWN = 20
DEAD_FILED = 1_000
MAX_RECORDS = 200_000


class LineFault(Struct, frozen=True):
    """Why one record of a body was refused; `line` counts the records of the body from 0."""

    line: int
    reason: str
    path: str
    detail: str


class Taken(Struct, frozen=True):
    """What became of a body.

    Attributes:
        offset: the journal's last offset after it.
        faults: the first of the records refused.
    """

    accepted: int
    rejected: int
    offset: int
    faults: list[LineFault]


class Ingest:
    """`POST /telemetry`: one record or many, NDJSON or MessagePack, plain or gzip.

    Args:
        wake: called after records were appended, on the event loop's thread.
        running: is told which jobs speak.
    """

    def __init__(self, intake: Intake, archive: Archive, wake: Callable[[], None], running: Running) -> None:
        self._intake = intake
        self._archive = archive
        self._wake = wake
        self._running = running

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["telemetry"])
        router.add_api_route("/telemetry", self.post, methods=["POST"])
        return router

    async def post(self, request: Request) -> Response:
        """Take telemetry: 200 means every accepted record survives a crash; refused ones are listed."""
        body = await read_body(request)
        source = request.client.host if request.client else "unknown"
        taken = await run_in_threadpool(self._take, body, f"http:{source}", unix_seconds())
        if taken.accepted:
            self._wake()
            return json_reply(taken)
        detail = "No record of the body could be read." if taken.rejected else "The body holds no record."
        raise Problem(400, detail, more={"accepted": 0, "rejected": taken.rejected, "faults": taken.faults})

    def _take(self, body: bytes, source: str, now: float) -> Taken:
        good: list[tuple[str, bytes]] = []
        bad: list[tuple[int, BadRecord]] = []
        rejected = 0
        records = split(body)
        if len(records) > MAX_RECORDS:
            raise Problem(413, f"The body holds more than {MAX_RECORDS:,} records; send it in several.")
        for line, raw in enumerate(records):
            try:
                good.append((self._job_of(raw, now), raw))
            except BadRecord as fault:
                rejected += 1
                if rejected <= DEAD_FILED:
                    bad.append((line, fault))
        # The good ones first: a crash in between leaves bad ones unfiled, and the sender repeats the whole body.
        offset = self._intake.append(good, now)
        self._file_dead(bad, source, _number_of(body), now)
        faults = [LineFault(line, fault.reason, fault.path, fault.detail) for line, fault in bad[:FAULTS_SHOWN]]
        return Taken(len(good), rejected, offset, faults)

    def _job_of(self, raw: bytes, now: float) -> str:
        """Read a record for its key; a tick comes from the runtime alone, never from outside."""
        record = decode(raw)
        if isinstance(record, Tick):
            raise BadRecord("kind", "$.kind", "a tick comes from the runtime alone", raw)
        self._running.hear(record, now)
        return record.job

    def _file_dead(self, bad: list[tuple[int, BadRecord]], source: str, number: int, now: float) -> None:
        letters = [dead_letter(fault, source, number, line, now) for line, fault in bad]
        if letters:
            self._archive.put([Sent("dead", source, letter) for letter in letters], 0)


def _number_of(body: bytes) -> int:
    """Number a body by its content: sent again, its bad records are the same bad records. 48 bits suit JavaScript."""
    return int.from_bytes(blake2b(body, digest_size=6).digest(), "big")
