"""Records as JSON answers."""

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from schemas.codec import to_wire

JSON = "application/json"


def json_reply(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None, media_type: str = JSON
) -> Response:
    """Answer with records, or plain data that holds records; numbers that are not finite are spelled out."""
    return Response(msgspec.json.encode(to_wire(content)), status, headers, media_type)
