"""The control document of a trainer over HTTP, cheap to ask for again and again."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from streams.feed.reply import json_reply
from streams.stores.store import Archive


class ControlDocuments:
    """`/control/{job}`: node agents ask for it every second or so."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["control"])
        router.add_api_route("/control/{job:path}", self.one, methods=["GET"])
        return router

    def one(self, job: str, request: Request) -> Response:
        """Give what a trainer shall do differently: 204 where nothing was ever asked, 304 where it is known."""
        control = self._archive.control(job)
        if control is None:
            return Response(status_code=204)
        tag = f'"{control.version}"'
        known = {part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")}
        if known & {tag, "*"}:
            return Response(status_code=304, headers={"ETag": tag})
        return json_reply(control, headers={"ETag": tag})
