"""Numbers that several processes agree on: counters, and the place of a record in the feed."""

import redis

KEPT_SECONDS = 90 * 86400
_PLACE = """
local known = redis.call('GET', KEYS[1])
if known then return tonumber(known) end
local place = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], place, 'EX', ARGV[1])
return place
"""


class RedisNumbers:
    """Counters that only grow.

    Args:
        client: of the server.
        prefix: before every key.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._prefix = client, f"{prefix}:{{numbers}}"
        self._place = client.register_script(_PLACE)

    def following(self, name: str) -> int:
        """Give the next number of a counter."""
        return int(self._client.incr(f"{self._prefix}:counter:{name}"))

    def place(self, identity: str) -> int:
        """Give the place of a record in the feed: the same for everybody who asks for the same identity."""
        keys = [f"{self._prefix}:place:{identity}", f"{self._prefix}:counter:feed"]
        return int(self._place(keys=keys, args=[KEPT_SECONDS]))
