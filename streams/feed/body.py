"""The body of a call, whole, unpacked and bounded."""

import zlib

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from streams.feed.problems import FieldFault, Problem

MAX_BODY_BYTES = 16 << 20
_GZIP = 16 + zlib.MAX_WBITS


async def read_body(request: Request) -> bytes:
    """Read a body of at most 16 MiB, before and after unpacking.

    Raises:
        Problem: it is larger (413), packed in a way we do not know (415), or damaged (400).
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "", "gzip", "x-gzip"}:
        fault = FieldFault("header.content-encoding", f"gzip or none is expected, not {encoding!r}")
        raise Problem(415, fault.detail, errors=[fault], headers={"Accept-Encoding": "gzip"})
    body = await _read(request)
    return await run_in_threadpool(_unzip, body) if "gzip" in encoding else body


async def read_packed(request: Request, encoding: str) -> bytes:
    """Read a body of at most 16 MiB as it was packed.

    Raises:
        Problem: it is larger (413), or packed in another way (415).
    """
    said = request.headers.get("content-encoding", "").strip().lower()
    if said != encoding:
        fault = FieldFault("header.content-encoding", f"{encoding} is expected, not {said!r}")
        raise Problem(415, fault.detail, errors=[fault], headers={"Accept-Encoding": encoding})
    return await _read(request)


async def _read(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
        raise _too_large()
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _too_large()
    return bytes(body)


def _unzip(packed: bytes) -> bytes:
    """Unpack all members of a gzip body; stop at the limit, for a few kilobytes can hold gigabytes."""
    body = bytearray()
    while packed:
        member = zlib.decompressobj(_GZIP)
        try:
            body += member.decompress(packed, MAX_BODY_BYTES + 1 - len(body))
        except zlib.error as fault:
            raise Problem(400, f"The body is no gzip: {fault}.") from None
        if len(body) > MAX_BODY_BYTES:
            raise _too_large()
        if not member.eof:
            raise Problem(400, "The gzip body is cut short.")
        packed = member.unused_data
    return bytes(body)


def _too_large() -> Problem:
    return Problem(413, f"The body is larger than {MAX_BODY_BYTES >> 20} MiB; send it in several.")
