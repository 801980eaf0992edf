"""A `trainmaster run` in a process of its own, to be killed and started again on the same state."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.waiting import until

START_SECONDS = 30.0
WAIT_SECONDS = 60.0


class ServerProcess:
    """Runs the command on a fixed port and state folder.

    Args:
        state: folder of the database; survives the process.
        port: to listen on; the same after every start.
        modes: playbook -> mode.
    """

    def __init__(self, state: Path, port: int, modes: dict[str, str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._config = state / "test.toml"
        state.mkdir(parents=True, exist_ok=True)
        lines = [f'state = "{state}"', f"port = {port}", "tick = 0.5", "snapshot = 1.0", "[modes]"]
        self._config.write_text("\n".join([*lines, *(f'{name} = "{mode}"' for name, mode in modes.items())]))
        self._log = state / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "streams", "run", "--config", str(self._config)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until(lambda: self._answers(), START_SECONDS, "the server did not start")

    def kill(self) -> None:
        """End it at once, by its process id, without a chance to tidy up."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """End it as an operator would; give its exit code."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=WAIT_SECONDS)

    def get(self, path: str) -> Any:
        """Read from the API."""
        with urllib.request.urlopen(f"{self.url}/api/v1{path}", timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def post(self, body: bytes) -> Any:
        """Post telemetry once."""
        asked = urllib.request.Request(f"{self.url}/api/v1/telemetry", data=body, method="POST")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.loads(answer.read())

    def is_idle(self) -> bool:
        """Tell whether everything in the journal has been said, and every request that acts has ended."""
        with urllib.request.urlopen(f"{self.url}/readyz", timeout=10) as answer:
            behind = json.loads(answer.read())["behind"]
        actions = [entry for one in self.get("/incidents")["items"] for entry in one["actions"]]
        return behind == 0 and all(entry["outcome"] != "pending" for entry in actions)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._log.read_text()[-2000:]
        try:
            return bool(self.get("/killswitch"))
        except (urllib.error.URLError, OSError):
            return False
