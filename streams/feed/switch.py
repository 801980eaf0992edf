"""The kill switch over HTTP: one call keeps every action from running."""

from fastapi import APIRouter
from starlette.responses import Response

from streams.clock import unix_seconds
from streams.feed.operator import Signed
from streams.feed.reply import json_reply
from streams.stores.store import Leases


class Turn(Signed):
    """Turn the kill switch on or off."""

    on: bool


class Switch:
    """`/killswitch`: on means that no action runs until it is turned off."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(tags=["kill switch"])
        router.add_api_route("/killswitch", self.show, methods=["GET"])
        router.add_api_route("/killswitch", self.turn, methods=["POST"])
        return router

    def show(self) -> Response:
        """Say whether it is on, and who turned it on."""
        by = self._leases.stopped_by()
        return json_reply({"on": by is not None, "by": by})

    def turn(self, turn: Turn) -> Response:
        """Turn it; the answer shows how it stands afterwards."""
        if turn.on:
            self._leases.stop(turn.by, unix_seconds())
        else:
            self._leases.go()
        return self.show()
