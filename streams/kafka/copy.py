"""Everything a process needs that answers or acts on Kafka: the copy of the topics, Redis, and a producer."""

import fcntl
import hashlib
import secrets
from pathlib import Path

import redis

from streams.kafka.connection import client_arguments
from streams.kafka.kafka_archive import KafkaArchive
from streams.kafka.kafka_intake import KafkaIntake
from streams.kafka.log_producer import log_producer
from streams.kafka.mirror import Mirror
from streams.kafka.topic_admin import require_topics
from streams.settings import BadSettings, Settings
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.positions import SqlitePositions
from streams.stores.redis_client import connect
from streams.stores.redis_leases import RedisLeases
from streams.stores.redis_numbers import RedisNumbers

FRESH_SECONDS = 10.0
"""Older than that, what is known is not good enough to act on."""


class Copy:
    """The stores of one process.

    Args:
        settings: of the installation.
        name: of this kind of process.

    Raises:
        BadSettings, NoKafka, NoRedis: something cannot be used; nothing was started.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        topics = require_topics(settings.kafka)
        client = connect(settings.redis)
        settings.state.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(settings.state)
        self.holder = _own_name(settings.state)
        self.producer = log_producer(settings.kafka, f"trainmaster-{name}")
        log = hashlib.blake2b("".join(topics[one].id for one in sorted(topics)).encode(), digest_size=4).hexdigest()
        self._database = Database(settings.state / f"copy-{log}.db")
        archive = SqliteArchive(self._database)
        self.client = client
        self.numbers = RedisNumbers(client, f"{settings.redis.prefix}:{log}")
        self.leases = RedisLeases(client, settings.redis.prefix)
        self.archive = KafkaArchive(archive, self.producer, self.numbers)
        self.intake = KafkaIntake(self.producer)
        self.mirror = Mirror(
            client_arguments(settings.kafka), topics, archive, SqlitePositions(self._database), self.numbers
        )

    def faults(self) -> list[str]:
        """Say what keeps the process from being ready; nothing means it is."""
        faults = []
        age = self.mirror.age()
        if not self.mirror.whole.is_set():
            faults.append("the topics are still being copied")
        elif age > FRESH_SECONDS:
            faults.append(f"Kafka has not answered for {age:.0f} s")
        if self.mirror.fault:
            faults.append(self.mirror.fault)
        try:
            self.client.ping()
        except (redis.RedisError, OSError) as fault:
            faults.append(f"Redis does not answer ({type(fault).__name__})")
        return faults

    def close(self) -> None:
        """End."""
        self.producer.close()
        self._database.close()
        self._lock.close()


class _Lock:
    def __init__(self, path: Path) -> None:
        self._file = path.open("w")

    def take(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        self._file.close()


def _locked(folder: Path) -> _Lock:
    lock = _Lock(folder / "lock")
    try:
        lock.take()
    except BlockingIOError:
        raise BadSettings(f"state: {folder} is in use by another process; give each one a folder of its own") from None
    return lock


def _own_name(folder: Path) -> str:
    """A name that survives a restart, so that a process finds the leases it has left."""
    path = folder / "name"
    if not path.exists():
        path.write_text(f"act-{secrets.token_hex(6)}")
    return path.read_text().strip()
