"""Requests over HTTP: see what shall be done, approve or reject it."""

import threading
from typing import Literal

from fastapi import APIRouter
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from schemas.action import Request, Result
from streams.feed.operator import Operator, Signed
from streams.feed.problems import Problem, missing
from streams.feed.reply import json_reply
from streams.stores.store import Archive, Leases

Answer = Literal["approved", "rejected"]


class RequestView(Struct, frozen=True):
    """A request with what became of it.

    Attributes:
        answer: `approved by NAME` or `rejected by NAME`, None while nobody has answered.
        result: how its run ended, None while it has not.
    """

    request: Request
    answer: str | None
    result: Result | None


class Requests:
    """`/requests` and what hangs below it."""

    def __init__(self, archive: Archive, leases: Leases, operator: Operator) -> None:
        self._archive = archive
        self._leases = leases
        self._operator = operator
        self._one_at_a_time = threading.Lock()

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(prefix="/requests", tags=["requests"])
        router.add_api_route("", self.find, methods=["GET"])
        router.add_api_route("/{request_id}/approve", self.approve, methods=["POST"])
        router.add_api_route("/{request_id}/reject", self.reject, methods=["POST"])
        return router

    def find(self, incident: str = "") -> Response:
        """List the requests of an incident, or all, oldest first, with answers and results."""
        return json_reply({"items": [self._view(request) for request in self._archive.requests(incident)]})

    async def approve(self, request_id: str, signed: Signed) -> Response:
        """Let a request run; saying it again changes nothing."""
        return await self._answered(request_id, "approved", signed.by)

    async def reject(self, request_id: str, signed: Signed) -> Response:
        """Keep a request from running; saying it again changes nothing."""
        return await self._answered(request_id, "rejected", signed.by)

    async def _answered(self, request_id: str, answer: Answer, by: str) -> Response:
        is_new = await run_in_threadpool(self._answer, request_id, answer, by)
        if is_new:
            self._operator.wake()
        return json_reply({"request": request_id, "answer": answer, "repeated": not is_new}, 202 if is_new else 200)

    def _answer(self, request_id: str, answer: Answer, by: str) -> bool:
        """Write the answer down once; give False where the same answer stands already."""
        request = self._archive.request(request_id)
        if request is None:
            raise missing("request", request_id)
        with self._one_at_a_time:
            is_new = self._leases.finished(_key(request_id)) is None
            if is_new:
                self._check_open(request)
            # The answer that was noted first stands, whichever server noted it. Only then comes the event; a crash in
            # between is made good by whoever answers again.
            stands = self._leases.finish(_key(request_id), f"{answer} by {by}")
            if not stands.startswith(answer):
                raise Problem(409, f"Request {request_id!r} was {stands}.")
            if self._leases.finished(f"{_key(request_id)}:said") is None:
                self._operator.append(f"request.{answer}", request, {"by": stands.removeprefix(f"{answer} by ")})
                self._leases.finish(f"{_key(request_id)}:said", "said")
        return is_new

    def _check_open(self, request: Request) -> None:
        if request.decision != "asked":
            raise Problem(409, f"Request {request.id!r} runs by itself; nobody was asked.")
        result = self._archive.result(request.id)
        if result is not None:
            raise Problem(409, f"Request {request.id!r} has ended: {result.outcome}.")

    def _view(self, request: Request) -> RequestView:
        return RequestView(request, self._leases.finished(_key(request.id)), self._archive.result(request.id))


def _key(request_id: str) -> str:
    return f"answer:{request_id}"
