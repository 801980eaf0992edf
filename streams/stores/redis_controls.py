"""The control documents of trainers in Redis: changed by compare and set, so that no runner loses another's setting."""

from collections.abc import Callable

import redis

from schemas.action import Control
from schemas.codec import encode, from_wire
from streams.stores.redis_client import as_bytes

TRIES = 50
_CHANGE = """
local stored = redis.call('HGET', KEYS[1], 'version')
if (stored or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'document', ARGV[3])
return 1
"""


class Contended(RuntimeError):
    """Others changed the document again and again while we tried."""


class RedisControls:
    """The present document of every job.

    Args:
        client: of the server.
        prefix: before every key.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._prefix = client, prefix
        self._change = client.register_script(_CHANGE)

    def read(self, job: str) -> Control | None:
        """Give the document of a job."""
        raw = self._client.hget(self._key(job), "document")
        return from_wire(as_bytes(raw), Control) if raw is not None else None

    def change(self, job: str, make: Callable[[Control | None], Control]) -> Control:
        """Change the document of a job; `make` may be called more than once, with the present document each time.

        Raises:
            Contended: others were always faster.
        """
        for _ in range(TRIES):
            present = self.read(job)
            wanted = make(present)
            if present is not None and wanted.version == present.version:
                return present
            before = present.version if present is not None else 0
            if self._change(keys=[self._key(job)], args=[before, wanted.version, encode(wanted)]):
                return wanted
        raise Contended(f"the control document of {job} is changed by others all the time")

    def _key(self, job: str) -> str:
        return f"{self._prefix}:control:{{{job}}}"
