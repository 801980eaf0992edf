"""The third way to a service: a container, where the programs are missing and Docker with its compose plugin is not."""

import atexit
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.services.kafka import KafkaBroker, Unavailable
from tests.services.processes import START_SECONDS, ServerProcess, free_port
from tests.services.redis import RedisServer

FILE = Path(__file__).parents[2] / "deploy" / "test-services.yml"
PULL_SECONDS = 600.0


class Container(ServerProcess):
    """One service of the compose file, with the same life as a process of ours.

    Args:
        service: its name in the file.
        port: on loopback.
        answers: whether it is ready; called until it says so.
    """

    def __init__(self, service: str, port: int, answers: Callable[[], bool]) -> None:
        need_docker()
        self._service, self._answers, self._process = service, answers, None
        self._environment = {**os.environ, "SERVICE_PORT": str(port)}
        self._words = ("docker", "compose", "--project-name", f"trainmaster-test-{port}", "--file", str(FILE))
        atexit.register(self._remove)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._do("up", "--detach", self._service)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self._service} did not start:\n{self._do('logs', self._service)[-2000:]}")
            time.sleep(0.1)

    def has_ended(self) -> bool:
        """Whether it does not run."""
        return not self._do("ps", "--quiet", "--status", "running", self._service).strip()

    def stop(self) -> None:
        """Ask it to end, and wait; its data stay."""
        self._do("stop", self._service)

    def kill(self) -> None:
        """End it at once; its data stay."""
        self._do("kill", self._service)

    def freeze(self) -> None:
        """Let it answer nothing and keep every connection."""
        self._do("pause", self._service)

    def thaw(self) -> None:
        """Let it go on."""
        self._do("unpause", self._service)

    def _remove(self) -> None:
        self._do("down", "--volumes", "--timeout", "1")

    def _do(self, *words: str) -> str:
        command = (*self._words, *words)
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=PULL_SECONDS, check=False
        )
        return done.stdout


class KafkaContainer(KafkaBroker):
    """A broker in a container of its own."""

    def __init__(self) -> None:
        self.port = free_port()
        self.process = Container("kafka", self.port, self._answers)


class RedisContainer(RedisServer):
    """A Redis in a container of its own; it keeps what it acknowledged over a kill."""

    def __init__(self) -> None:
        self.port, self._password = free_port(), ""
        self.process = Container("redis", self.port, self._answers)


def need_docker() -> None:
    """Refuse to go on without an engine.

    Raises:
        Unavailable: it says what is missing.
    """
    if shutil.which("docker") is None:
        raise Unavailable("Docker is missing")
    for words in (("docker", "compose", "version"), ("docker", "info")):
        if subprocess.run(words, capture_output=True, check=False).returncode != 0:
            raise Unavailable(f"`{' '.join(words)}` fails")
