"""Memory of keys in Redis: a save with a smaller offset than the stored one is ignored, whoever makes it."""

from collections.abc import Sequence

import redis

from streams.stores.redis_client import answering, as_bytes
from streams.stores.store import Snapshot

KEPT_SECONDS = 14 * 86400
_SAVE = """
local stored = redis.call('HGET', KEYS[1], 'offset')
if stored and tonumber(stored) > tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'offset', ARGV[1], 'data', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('SADD', KEYS[2], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
"""


class RedisSnapshots:
    """Snapshots under one prefix; what nobody has saved for two weeks is forgotten.

    Args:
        client: of the server.
        prefix: before every key; `{...}` in it keeps them on one node of a cluster.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._prefix = client, prefix
        self._save = client.register_script(_SAVE)

    def save(self, snapshots: Sequence[Snapshot]) -> None:
        """Keep the newest of each key; the last one is written only when all before it are."""
        for part in (snapshots[:-1], snapshots[-1:]):
            with answering(), self._client.pipeline(transaction=False) as pipeline:
                for one in part:
                    keys = [self._key(one.key), self._index]
                    self._save(keys=keys, args=[one.offset, one.data, KEPT_SECONDS, one.key], client=pipeline)
                pipeline.execute()

    def load(self, key: str) -> Snapshot | None:
        """Give the newest of a key."""
        with answering():
            offset, data = self._client.hmget(self._key(key), "offset", "data")
        return Snapshot(key, int(offset), as_bytes(data)) if offset is not None and data is not None else None

    def keys(self) -> list[str]:
        """List the keys that have one."""
        with answering():
            return sorted(as_bytes(key).decode() for key in self._client.smembers(self._index))

    @property
    def _index(self) -> str:
        return f"{self._prefix}:snapshots"

    def _key(self, key: str) -> str:
        return f"{self._prefix}:snapshot:{key}"
