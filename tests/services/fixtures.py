"""Services for tests: one Kafka and one Redis for all, and own ones for tests that break them.

`KAFKA_BOOTSTRAP_SERVERS` and `REDIS_URL` name servers that are there already; else they are started here, from programs
or from containers; else the test is skipped and says what to install (in CI that is a failure).
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.services.containers import KafkaContainer, RedisContainer
from tests.services.kafka import KafkaBroker, Unavailable
from tests.services.redis import RedisServer

T = TypeVar("T")


@pytest.fixture(scope="session")
def kafka_bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a broker that all tests share; use topics of your own."""
    given = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if given:
        yield given
        return
    broker = made(lambda: KafkaBroker(tmp_path_factory.mktemp("kafka")), KafkaContainer)
    broker.start()
    yield broker.bootstrap
    broker.process.stop()


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[KafkaBroker]:
    """A broker that this test may stop, freeze and start again."""
    folder = tmp_path / "kafka"
    folder.mkdir()
    broker = made(lambda: KafkaBroker(folder), KafkaContainer)
    broker.start()
    yield broker
    broker.process.kill()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Redis that all tests share; use keys of your own."""
    given = os.environ.get("REDIS_URL")
    if given:
        yield given
        return
    server = made(lambda: RedisServer(tmp_path_factory.mktemp("redis"), durable=False), RedisContainer)
    server.start()
    yield server.url
    server.process.stop()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that this test may kill, freeze and start again; it keeps what it acknowledged."""
    folder = tmp_path / "redis"
    folder.mkdir()
    server = made(lambda: RedisServer(folder), RedisContainer)
    server.start()
    yield server
    server.process.kill()


def made(*ways: Callable[[], T]) -> T:
    """Make a service the first way that works, or skip the test, loudly."""
    faults = []
    for make in ways:
        try:
            return make()
        except Unavailable as fault:
            faults.append(str(fault))
    pytest.skip(f"NOT TESTED on the real service: {'; '.join(faults)}")
