"""A server of somebody else in a process of its own: started, frozen, killed and started again by its stored id."""

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

START_SECONDS = 60.0
END_SECONDS = 20.0


class ServerProcess:
    """Keeps one process, and ends it with the tests whatever happens.

    Args:
        command: program and arguments.
        folder: where it runs and writes its log.
        answers: whether it is ready; called until it says so.
    """

    def __init__(self, command: Sequence[str], folder: Path, answers: Callable[[], bool]) -> None:
        self.command, self.folder, self.answers = tuple(command), folder, answers
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.kill)

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.folder / "log"

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.command[0]} did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.1)

    @property
    def pid(self) -> int:
        """Its process id; 0 before the first start."""
        return self._process.pid if self._process is not None else 0

    def has_ended(self) -> bool:
        """Whether it is gone, or was never there."""
        return self._process is None or self._process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process by its id."""
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, number)

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self.signal(signal.SIGTERM)
        self._wait()

    def kill(self) -> None:
        """End it at once; a frozen one too."""
        self.signal(signal.SIGKILL)
        self._wait()

    def freeze(self) -> None:
        """Let it answer nothing and keep every connection."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.signal(signal.SIGCONT)

    def _wait(self) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self._process.wait(END_SECONDS)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Tell whether somebody accepts connections on a port of this machine."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
        return True
    return False
