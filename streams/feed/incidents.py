"""Incidents over HTTP: find, read, take and close them."""

from collections.abc import Collection
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from schemas.codec import encode
from schemas.incident import Incident, State
from streams.claims import claims_of
from streams.feed.operator import Operator, Signed
from streams.feed.problems import FieldFault, Problem, missing
from streams.feed.reply import json_reply
from streams.stores.store import Archive, IncidentQuery


class Closing(Signed):
    """Why an incident is closed: the cause a person found, and whether it was a legitimate change."""

    cause: str | None = None
    legitimate: bool | None = None


class Incidents:
    """`/incidents` and what hangs below it.

    Args:
        causes: names of the catalogue; a person who closes an incident may name one of these.
    """

    def __init__(self, archive: Archive, operator: Operator, causes: Collection[str]) -> None:
        self._archive = archive
        self._operator = operator
        self._causes = sorted(causes)

    def router(self) -> APIRouter:
        """Give its routes."""
        router = APIRouter(prefix="/incidents", tags=["incidents"])
        router.add_api_route("", self.find, methods=["GET"])
        router.add_api_route("/{incident_id}", self.one, methods=["GET"])
        router.add_api_route("/{incident_id}/revisions", self.revisions, methods=["GET"])
        router.add_api_route("/{incident_id}/evidence", self.evidence, methods=["GET"])
        router.add_api_route("/{incident_id}/acknowledge", self.acknowledge, methods=["POST"])
        router.add_api_route("/{incident_id}/close", self.close, methods=["POST"])
        return router

    def find(
        self,
        state: Literal["", State] = "",
        job: str = "",
        node: str = "",
        since: Annotated[float, Query(ge=0)] = 0.0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        cursor: Annotated[int, Query(ge=0)] = 0,
    ) -> Response:
        """List the present view of incidents, newest change first; `next_cursor` gives the next page, null: none."""
        query = IncidentQuery(state=state, job=job, node=node, since=since, limit=limit, cursor=cursor)
        items, following = self._archive.incidents(query)
        return json_reply({"items": items, "next_cursor": following or None})

    def one(self, incident_id: str) -> Response:
        """Give the present view of one incident."""
        return json_reply(self._named(incident_id))

    def revisions(self, incident_id: str) -> Response:
        """Give every revision of one incident, oldest first."""
        self._named(incident_id)
        return json_reply({"items": self._archive.revisions(incident_id)})

    def evidence(self, incident_id: str) -> Response:
        """Give what one incident claims: each claim with its numbers, what made it, and what to compute it from."""
        origins = self._archive.origins("incidents", incident_id)
        of_detection = partial(self._archive.origins, "detections")
        return json_reply(claims_of(self._named(incident_id), origins, of_detection))

    async def acknowledge(self, incident_id: str, signed: Signed) -> Response:
        """Take an incident: its next revision names the person."""
        return await self._say(incident_id, "incident.acknowledged", signed)

    async def close(self, incident_id: str, closing: Closing) -> Response:
        """Close an incident, with the cause that a person found or as a legitimate change; later ones correct it."""
        self._check(closing)
        return await self._say(incident_id, "incident.closed", closing)

    async def _say(self, incident_id: str, event: str, signed: Signed) -> Response:
        """Answer 202: the pipeline hears it next, and the stream tells of the revision it makes."""
        offset = await run_in_threadpool(self._append, incident_id, event, signed.model_dump(exclude_none=True))
        self._operator.wake()
        return json_reply({"incident": incident_id, "event": event, "offset": offset}, 202)

    def _append(self, incident_id: str, event: str, data: dict[str, Any]) -> int:  # Any: fields by event
        incident = self._named(incident_id)
        if incident.state == "closed" and not (data.get("cause") or data.get("legitimate")):
            raise Problem(409, f"Incident {incident_id!r} is closed already; only its cause can still be corrected.")
        if incident.state in ("resolved", "closed"):  # the line may have forgotten it since
            data = {**data, "incident": msgspec.json.decode(encode(incident))}
        return self._operator.append(event, incident, data)

    def _check(self, closing: Closing) -> None:
        if closing.cause and closing.cause not in self._causes:
            near = get_close_matches(closing.cause, self._causes) or ["unknown"]
            why = f"there is no cause {closing.cause!r} in the catalogue; near: {', '.join(near)}"
            raise Problem(422, f"body.cause: {why}", errors=[FieldFault("body.cause", why)])

    def _named(self, incident_id: str) -> Incident:
        incident = self._archive.incident(incident_id)
        if incident is None:
            raise missing("incident", incident_id)
        return incident
