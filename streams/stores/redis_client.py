"""One place that makes a client of Redis, checks that the server may be used, and says in one line why not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import redis
import redis.exceptions
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from streams.settings import RedisSettings
from streams.stores.store import StoreAway

DEFAULT_URL = "redis://127.0.0.1:6379/0"
SECONDS = 1.0
TRIES = 3


class NoRedis(RuntimeError):
    """Redis cannot be used as it is; the message says why, and holds no secret."""


def connect(settings: RedisSettings) -> redis.Redis:
    """Make a client, and see that the server answers and forgets nothing by itself.

    Raises:
        NoRedis: it does not answer, refuses us, or would evict keys.
    """
    url = settings.url.get_secret_value() or os.environ.get("REDIS_URL", "") or DEFAULT_URL
    try:
        client = redis.Redis.from_url(
            url,
            socket_timeout=SECONDS,
            socket_connect_timeout=SECONDS,
            health_check_interval=30,
            retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), TRIES),
        )
    except ValueError as fault:
        raise NoRedis(f"redis.url cannot be used: {_plain(str(fault), url)}") from None
    _check(client)
    return client


def _check(client: redis.Redis) -> None:
    where = _where(client)
    try:
        client.ping()
        policy = client.config_get("maxmemory-policy").get("maxmemory-policy", "noeviction")
    except redis.AuthenticationError:
        raise NoRedis(f"Redis at {where} refuses the credentials") from None
    except redis.exceptions.NoPermissionError:
        return  # a server that hides its configuration has been configured by somebody who knows
    except redis.ResponseError:
        return
    except (redis.RedisError, OSError) as fault:
        raise NoRedis(f"Redis at {where} does not answer ({type(fault).__name__}); check redis.url") from None
    if policy != "noeviction":
        raise NoRedis(f"Redis at {where} evicts keys ({policy}); leases need maxmemory-policy noeviction")


def _where(client: redis.Redis) -> str:
    told = client.connection_pool.connection_kwargs
    return f"{told.get('host', 'localhost')}:{told.get('port', 6379)}"


def _plain(words: str, url: str) -> str:
    return words.replace(url, "the address")


def as_bytes(value: bytes | str) -> bytes:
    """What a client without decoding gives; its types allow for one with."""
    return value if isinstance(value, bytes) else value.encode()


@contextmanager
def answering() -> Iterator[None]:
    """Around calls: a server that does not answer is one kind of fault, whatever the client calls it.

    Raises:
        StoreAway: it did not answer.
    """
    try:
        yield
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OSError) as fault:
        raise StoreAway(f"Redis does not answer ({type(fault).__name__})") from None
