"""Who may act, once, and whether anybody may, in Redis, so that several runners work side by side."""

import redis

from streams.stores.redis_client import answering, as_bytes
from streams.stores.store import Lease

KEPT_MS = 7 * 86_400_000
_ACQUIRE = """
local holder, expires = unpack(redis.call('HMGET', KEYS[1], 'holder', 'expires'))
if holder and holder ~= '' and holder ~= ARGV[1] and tonumber(expires) > tonumber(ARGV[2]) then return 0 end
local token = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'expires', ARGV[3], 'token', token)
return token
"""
_RELEASE = """
local holder, token = unpack(redis.call('HMGET', KEYS[1], 'holder', 'token'))
if holder == ARGV[1] and token == ARGV[2] then redis.call('HSET', KEYS[1], 'holder', '') end
return 1
"""
_BEGIN = """
local holder, token = unpack(redis.call('HMGET', KEYS[1], 'holder', 'token'))
if holder ~= ARGV[1] or token ~= ARGV[2] then return 0 end
if redis.call('HEXISTS', KEYS[2], 'outcome') == 1 then return 0 end
redis.call('HSET', KEYS[2], 'token', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""
_FINISH = """
redis.call('HSETNX', KEYS[1], 'outcome', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('HGET', KEYS[1], 'outcome')
"""
_FINISH_UNDER = """
if redis.call('HGET', KEYS[1], 'token') == ARGV[3] then
  redis.call('HSETNX', KEYS[2], 'outcome', ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
return redis.call('HGET', KEYS[2], 'outcome')
"""
_FINISH_UNBEGUN = """
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'outcome', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return redis.call('HGET', KEYS[1], 'outcome')
"""


class RedisLeases:
    """Leases, finished work and the kill switch under one prefix.

    A lease that ran out stays good until somebody else takes the target. Finished work is remembered for a week, longer
    than any request lives. Every call raises `StoreAway` when the server does not answer.

    Args:
        client: of the server.
        prefix: before every key.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = client
        self._prefix = f"{prefix}:{{leases}}"
        self._acquire = client.register_script(_ACQUIRE)
        self._release = client.register_script(_RELEASE)
        self._begin = client.register_script(_BEGIN)
        self._finish = client.register_script(_FINISH)
        self._finish_under = client.register_script(_FINISH_UNDER)
        self._finish_unbegun = client.register_script(_FINISH_UNBEGUN)

    def acquire(self, target: str, holder: str, now: float, seconds: float) -> Lease | None:
        """Take a target unless somebody else holds it; the token grows with every taking."""
        keys = [self._key("lease", target), self._key("fence", target)]
        with answering():
            token = int(self._acquire(keys=keys, args=[holder, now, now + seconds]))
        return Lease(target=target, holder=holder, token=token) if token else None

    def release(self, lease: Lease) -> None:
        """Give a target back; without effect if the lease was lost."""
        with answering():
            self._release(keys=[self._key("lease", lease.target)], args=[lease.holder, lease.token])

    def begin(self, key: str, lease: Lease) -> bool:
        """Note that work with this idempotency key starts; False when it is finished, or the lease is lost."""
        keys = [self._key("lease", lease.target), self._key("work", key)]
        with answering():
            return bool(self._begin(keys=keys, args=[lease.holder, lease.token, KEPT_MS]))

    def finish(self, key: str, outcome: str) -> str:
        """Note that it is finished; give the outcome that stands, which is the first. `begin` then answers False."""
        with answering():
            return as_bytes(self._finish(keys=[self._key("work", key)], args=[outcome, KEPT_MS])).decode()

    def finish_under(self, key: str, outcome: str, lease: Lease) -> str | None:
        """Note likewise, but nothing if somebody else has taken the target since; None: no outcome stands yet."""
        keys = [self._key("lease", lease.target), self._key("work", key)]
        with answering():
            stands = self._finish_under(keys=keys, args=[outcome, KEPT_MS, lease.token])
        return as_bytes(stands).decode() if stands is not None else None

    def finish_unbegun(self, key: str, outcome: str) -> str | None:
        """Note likewise, but nothing if the work has begun; None: no outcome stands yet."""
        with answering():
            stands = self._finish_unbegun(keys=[self._key("work", key)], args=[outcome, KEPT_MS])
        return as_bytes(stands).decode() if stands is not None else None

    def finished(self, key: str) -> str | None:
        """Give the outcome noted for a key."""
        with answering():
            outcome = self._client.hget(self._key("work", key), "outcome")
        return as_bytes(outcome).decode() if outcome is not None else None

    def stop(self, by: str, now: float) -> None:
        """Turn the kill switch on: no action runs until `go`. Who turned it on first stays on record."""
        with answering():
            self._client.set(self._key("switch", "all"), f"{now} {by}", nx=True)

    def go(self) -> None:
        """Turn the kill switch off."""
        with answering():
            self._client.delete(self._key("switch", "all"))

    def stopped_by(self) -> str | None:
        """Give who turned the kill switch on; None when it is off."""
        with answering():
            value = self._client.get(self._key("switch", "all"))
        return as_bytes(value).decode().partition(" ")[2] if value is not None else None

    def _key(self, kind: str, name: str) -> str:
        return f"{self._prefix}:{kind}:{name}"
