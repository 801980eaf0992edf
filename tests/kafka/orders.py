"""Orders to a scheduler that writes down who gave them, and requests that lead to them."""

import json
import sys
from pathlib import Path

from schemas.action import Request, Result
from schemas.codec import encode, from_wire
from schemas.incident import Incident
from streams.acting.runner import SOURCE
from streams.kafka.log_producer import log_producer
from streams.kafka.message import Letter
from tests.actions.samples import an_incident
from tests.kafka.installation import Installation, Process

_ORDER = """\
import os, pathlib, sys, time
folder, job = pathlib.Path(sys.argv[1]), sys.argv[2]
number = len((folder / "orders").read_text().splitlines()) if (folder / "orders").exists() else 0
with (folder / "orders").open("a") as orders:
    orders.write(f"{os.getppid()} {job}\\n")
while (folder / f"hold {number}").exists():
    time.sleep(0.02)
"""


class Orders:
    """A scheduler's command that appends to a file, and takes as long as the test wants.

    Args:
        folder: for the file.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder

    @property
    def setting(self) -> dict[str, str]:
        """What makes the runners use it."""
        return {"TRAINMASTER_SCHEDULER__STOP": json.dumps([sys.executable, "-c", _ORDER, str(self._folder), "{job}"])}

    def hold(self, number: int) -> None:
        """Let the order of that number, from 0, take until it is let go."""
        (self._folder / f"hold {number}").touch()

    def let_go(self, number: int) -> None:
        """Let it end."""
        (self._folder / f"hold {number}").unlink()

    def given(self) -> list[tuple[int, str]]:
        """The orders so far: process id of the runner, and job."""
        path = self._folder / "orders"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(line.split()[0]), line.split()[1]) for line in lines]

    def giver(self, number: int, runners: list[Process]) -> Process:
        """The runner that gave an order."""
        pid, _ = self.given()[number]
        return next(one for one in runners if one.pid == pid)


def request_of(number: int, action: str = "job.stop") -> tuple[Incident, Request]:
    """A request on a job of its own, with its incident."""
    job, incident = f"job-{number}", f"incident-{number}"
    about = an_incident(id=incident, job=job)
    return about, Request(
        id=f"r-{number}",
        incident=incident,
        job=job,
        attempt=1,
        playbook="stop-on-non-finite-loss",
        action=action,
        target=job,
        params={"path": "cache"} if action == "loader.use_cache" else {},
        decision="act",
        time=about.updated_time,
    )


def ask(installation: Installation, *wanted: tuple[Incident, Request]) -> None:
    """Put requests, with their incidents, where the runners find them."""
    producer = log_producer(installation.settings, "test")
    producer.deliver([Letter("incidents", about.id, encode(about)) for about, _ in wanted])
    producer.deliver([Letter("requests", request.incident, encode(request)) for _, request in wanted])
    producer.close()


def results(installation: Installation) -> list[Result]:
    """Every result that was said, also those said again."""
    return [from_wire(raw, Result) for _, raw in installation.said("results")]


def endings(installation: Installation) -> list[tuple[str, str]]:
    """What the line is told by the runners: event and request, each pair once."""
    told = [json.loads(line) for _, body in installation.said("telemetry") for line in body.splitlines()]
    return sorted({(one["event"], one["subject"]) for one in told if one["node"] == SOURCE})
