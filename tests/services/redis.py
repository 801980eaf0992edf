"""A real Redis: the Debian package's server on a free loopback port."""

import contextlib
import shutil
from pathlib import Path

import redis

from tests.services.kafka import Unavailable
from tests.services.processes import ServerProcess, free_port


class RedisServer:
    """A server of our own; with `durable` it keeps what it acknowledged over a kill.

    Args:
        folder: for its data and log.
        password: wanted from clients; "" for none.
        durable: write every change to disk before it is acknowledged.
    """

    def __init__(self, folder: Path, password: str = "", durable: bool = True) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise Unavailable("redis-server is missing (Debian: apt-get install redis-server)")
        self.port, self._password = free_port(), password
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        command += ["--maxmemory-policy", "noeviction", "--daemonize", "no"]
        command += ["--appendonly", "yes", "--appendfsync", "always"] if durable else ["--appendonly", "no"]
        command += ["--requirepass", password] if password else []
        self.process = ServerProcess(command, folder, self._answers)

    @property
    def url(self) -> str:
        """Its address for clients."""
        secret = f":{self._password}@" if self._password else ""
        return f"redis://{secret}127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it serves."""
        self.process.start()

    def _answers(self) -> bool:
        with contextlib.suppress(redis.RedisError, OSError):
            client = redis.Redis.from_url(self.url, socket_timeout=1.0, socket_connect_timeout=1.0)
            try:
                return bool(client.ping())
            finally:
                client.close()
        return False
