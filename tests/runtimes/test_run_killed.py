"""`trainmaster run`, killed in the middle of an incident and started again on the same file."""

import socket
from pathlib import Path
from typing import Any

import pytest

from streams.agents.simulated import simulate
from tests.runtimes.server_process import WAIT_SECONDS, ServerProcess
from tests.waiting import until

BATCH = 60
ACTING = {"loader-to-nvme-cache": "act", "mark-contaminated-steps": "act", "tell-people": "observe"}


@pytest.fixture(scope="module")
def batches() -> list[bytes]:
    """The telemetry of a storage fault, with its repetitions and delays, in bodies of 60 records."""
    lines = list(simulate("storage", 5, defects=True))
    return [b"".join(lines[at : at + BATCH]) for at in range(0, len(lines), BATCH)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, batches: list[bytes]) -> dict[str, Any]:
    """What an undisturbed run comes to."""
    return outcome(tmp_path_factory.mktemp("undisturbed"), batches, kill_at=())


@pytest.mark.service
@pytest.mark.parametrize("share", [0.45, 0.6, 0.8])
def test_a_killed_run_ends_like_an_undisturbed_one(
    tmp_path: Path, batches: list[bytes], undisturbed: dict[str, Any], share: float
) -> None:
    """After SIGKILL and a restart the incidents, requests and controls are those of an undisturbed run."""
    assert outcome(tmp_path, batches, kill_at=(int(share * len(batches)),)) == undisturbed


@pytest.mark.service
def test_a_run_that_is_killed_again_and_again_loses_nothing(
    tmp_path: Path, batches: list[bytes], undisturbed: dict[str, Any]
) -> None:
    """Five kills in a row change nothing either."""
    moments = tuple(int(share * len(batches)) for share in (0.3, 0.42, 0.5, 0.65, 0.9))
    assert outcome(tmp_path, batches, kill_at=moments) == undisturbed


def outcome(state: Path, batches: list[bytes], kill_at: tuple[int, ...]) -> dict[str, Any]:
    """Send everything, killing the server on the way; give what is left of it in the end.

    What was posted just before a kill is posted again, as an agent does that saw no answer.
    """
    server = ServerProcess(state / "state", free_port(), ACTING)
    server.start()
    for number, body in enumerate(batches):
        server.post(body)
        if number in kill_at:
            server.kill()
            server.start()
            server.post(body)
    until(server.is_idle, WAIT_SECONDS, "the server did not come to rest")
    try:
        return told(server)
    finally:
        assert server.stop() == 0


def told(server: ServerProcess) -> dict[str, Any]:
    """Incidents without the number of their revision, requests with their outcome, and the control document."""
    incidents = server.get("/incidents")["items"]
    requests = server.get("/requests")["items"]
    return {
        "incidents": [{**one, "revision": 0, "updated_time": 0} for one in incidents],
        "requests": [{**one, "result": one["result"] and one["result"]["outcome"]} for one in requests],
        "control": server.get("/control/sim-16"),
    }


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
