"""The services that the benchmarks run on: those of the environment, or our own for as long as it takes."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services.kafka import KafkaBroker
from tests.services.redis import RedisServer


@contextmanager
def services() -> Iterator[tuple[str, str, Path]]:
    """Give the addresses of a broker and a Redis, and a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in ("kafka", "redis"):
            (folder / one).mkdir()
        broker, server = KafkaBroker(folder / "kafka"), RedisServer(folder / "redis", durable=False)
        given = os.environ.get("KAFKA_BOOTSTRAP_SERVERS"), os.environ.get("REDIS_URL")
        if not given[0]:
            broker.start()
        if not given[1]:
            server.start()
        try:
            yield given[0] or broker.bootstrap, given[1] or server.url, folder
        finally:
            broker.process.kill()
            server.process.kill()
