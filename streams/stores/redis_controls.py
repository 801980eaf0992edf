"""The control documents of trainers in Redis: changed by compare and set, and fenced.

Whoever changes a document shows the token of the lease under which he acts. The document remembers the highest it has
seen, so a runner that slept through the end of its lease changes nothing any more.
"""

from collections.abc import Callable

import redis

from schemas.action import Control
from schemas.codec import encode, from_wire
from streams.stores.redis_client import answering, as_bytes
from streams.stores.store import FencedOff, Lease

TRIES = 50
_CHANGE = """
local fence = tonumber(redis.call('HGET', KEYS[1], 'fence:' .. ARGV[4]) or '0')
if tonumber(ARGV[5]) < fence then return -1 end
local stored = redis.call('HGET', KEYS[1], 'version')
if (stored or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'document', ARGV[3], 'fence:' .. ARGV[4], ARGV[5])
return 1
"""
_FENCED = -1


class Contended(RuntimeError):
    """Others changed the document again and again while we tried."""


class RedisControls:
    """The present document of every job. Every call raises `StoreAway` when the server does not answer.

    Args:
        client: of the server.
        prefix: before every key.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._prefix = client, prefix
        self._change = client.register_script(_CHANGE)

    def read(self, job: str) -> Control | None:
        """Give the document of a job."""
        with answering():
            raw = self._client.hget(self._key(job), "document")
        return from_wire(as_bytes(raw), Control) if raw is not None else None

    def change(self, job: str, lease: Lease, make: Callable[[Control | None], Control]) -> Control:
        """Change the document of a job.

        Args:
            lease: under which it is changed.
            make: gives the wanted document for the present one; may be called more than once.

        Raises:
            FencedOff: the target of the lease has been taken by somebody else, who has changed this document.
            Contended: others were always faster.
        """
        for _ in range(TRIES):
            present = self.read(job)
            wanted = make(present)
            before = present.version if present is not None else 0
            args: list[str | bytes | int | float] = [before, wanted.version, encode(wanted), lease.target, lease.token]
            with answering():
                done = self._change(keys=[self._key(job)], args=args)
            if done == _FENCED:
                raise FencedOff(f"{lease.target} is in other hands")
            if done:
                return wanted
        raise Contended(f"the control document of {job} is changed by others all the time")

    def _key(self, job: str) -> str:
        return f"{self._prefix}:control:{{{job}}}"
