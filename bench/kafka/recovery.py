"""How long a job goes unwatched when its worker is killed: the longest gap between its vitals, against the session."""

import itertools
import threading
import time
from types import TracebackType
from typing import Self

import msgspec
from kafka import KafkaProducer
from msgspec import Struct

from bench.kafka.listening import Heard, Listener
from bench.kafka.load import frames
from bench.kafka.services import services
from bench.table import Table
from tests.kafka.installation import Installation, Process, jobs_of_all_partitions
from tests.waiting import until

PARTITIONS = 4
NODES = 8
RATE = 10.0
"""Steps of each job in a second."""
KILLS = 4
SESSIONS = (2.0, 6.0)
CALM = 5.0
PATIENCE = 8.0
"""Seconds beyond the session after which a gap would count as never ended."""
SECONDS = 120.0


class _Vitals(Struct):
    of: str
    step: int | None = None


def run() -> Table:
    """Kill one of two workers several times, with a short session and a longer one."""
    with services() as (bootstrap, redis_url, folder):
        rows = []
        for session in SESSIONS:
            name = f"recovery-{session:.0f}"
            given = {"TRAINMASTER_KAFKA__SESSION": str(session), "TRAINMASTER_SNAPSHOT": "10"}
            installation = Installation(name, bootstrap, redis_url, folder / name, PARTITIONS, **given)
            pauses = _pauses(installation, session)
            installation.close()
            over = [one - session for one in pauses]
            rows.append((session, KILLS, min(pauses), max(pauses), max(over)))
    what = (
        f"two workers, {PARTITIONS} jobs of {NODES} nodes at {RATE:.0f} steps/s; one is killed (SIGKILL) and not "
        "started again until its jobs are watched; the longest gap between the vitals of a job"
    )
    columns = ("session s", "kills", "shortest pause s", "longest pause s", "longest over the session s")
    return Table("kafka_recovery", what, columns, tuple(rows))


def _pauses(installation: Installation, session: float) -> list[float]:
    workers = [installation.start("worker"), installation.start("worker")]
    seconds = KILLS * (session + PATIENCE + 2 * CALM) + SECONDS
    jobs = {job: list(frames(job, NODES, int(RATE * seconds))) for job in jobs_of_all_partitions(PARTITIONS)}
    pauses = []
    with Listener(installation.bootstrap, f"{installation.name}.vitals") as listener, _Sender(installation, jobs):
        for number in range(KILLS):
            until(lambda: _shared_evenly(workers), SECONDS, "no even share")
            time.sleep(CALM)
            victim = workers[number % 2]
            before, begin = len(listener.heard), time.monotonic()
            victim.kill()
            time.sleep(session + PATIENCE)
            pauses.append(_longest_gap(listener.heard[before:], begin))
            victim.start()
    return pauses


def _shared_evenly(workers: list[Process]) -> bool:
    return all(one.ready() and one.metric("trainmaster_partitions") == PARTITIONS / 2 for one in workers)


def _longest_gap(heard: list[Heard], begin: float) -> float:
    """The longest time without vitals of a step, over all jobs; counted from the kill on."""
    moments: dict[str, list[float]] = {}
    for one in heard:
        if msgspec.json.decode(one.value, type=_Vitals).of == "step":
            moments.setdefault(one.key, [begin]).append(one.moment)
    assert len(moments) == PARTITIONS
    return max(after - before for each in moments.values() for before, after in itertools.pairwise(each))


class _Sender:
    """Sends the steps of all jobs as they are due, on a thread."""

    def __init__(self, installation: Installation, jobs: dict[str, list[bytes]]) -> None:
        self._topic, self._jobs = f"{installation.name}.telemetry", jobs
        self._producer = KafkaProducer(
            bootstrap_servers=installation.bootstrap, enable_idempotence=False, acks="all", linger_ms=0
        )
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join()
        self._producer.close(timeout=5)

    def _send(self) -> None:
        begin = time.monotonic()
        for step in itertools.count():
            if self._ending.wait(max(0.0, begin + step / RATE - time.monotonic())):
                return
            first = 0 if step == 0 else 1 + step * NODES  # the first message of a job tells of its start as well
            for job, lines in self._jobs.items():
                body = b"\n".join(lines[first : 1 + (step + 1) * NODES])
                self._producer.send(self._topic, key=job.encode(), value=body)
