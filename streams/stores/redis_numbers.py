"""Numbers that several processes agree on: counters, and the place of a record in the feed."""

from collections.abc import Sequence

import redis

from streams.stores.redis_client import answering

KEPT_SECONDS = 100 * 86400
"""Places are remembered longer than any topic keeps its records."""
FEED = "feed"
_PLACE = """
local known = redis.call('GET', KEYS[1])
if known then return tonumber(known) end
local place = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], place, 'EX', ARGV[1])
return place
"""
_RAISE = """
local value = tonumber(redis.call('GET', KEYS[1]) or '0')
if value < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return redis.call('GET', KEYS[1])
"""


class RedisNumbers:
    """Counters that only grow. Every call raises `StoreAway` when the server does not answer.

    Args:
        client: of the server.
        prefix: before every key.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._prefix = client, f"{prefix}:{{numbers}}"
        self._place = client.register_script(_PLACE)
        self._raise = client.register_script(_RAISE)

    def following(self, name: str) -> int:
        """Give the next number of a counter; nobody gets the same one twice. The first is 1."""
        with answering():
            return int(self._client.incr(self._counter(name)))

    def at_least(self, name: str, value: int) -> int:
        """Let a counter stand at a value or above; give where it stands."""
        with answering():
            return int(self._raise(keys=[self._counter(name)], args=[value]) or 0)

    def places(self, identities: Sequence[str]) -> list[int]:
        """Give the places of records in the feed: the same for everybody who asks for the same identities."""
        if not identities:
            return []
        with answering(), self._client.pipeline(transaction=False) as pipeline:
            for identity in identities:
                keys = [f"{self._prefix}:place:{identity}", self._counter(FEED)]
                self._place(keys=keys, args=[KEPT_SECONDS], client=pipeline)
            return [int(place) for place in pipeline.execute()]

    def _counter(self, name: str) -> str:
        return f"{self._prefix}:counter:{name}"
