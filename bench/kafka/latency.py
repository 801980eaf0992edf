"""How long after a frame was handed to Kafka its incident can be read, at a steady 200 frames per second."""

import time
from itertools import count

import msgspec
import numpy as np
from kafka import KafkaProducer
from msgspec import Struct

from bench.kafka.listening import Heard, Listener
from bench.kafka.load import START, frames
from bench.kafka.services import services
from bench.table import Table
from tests.kafka.installation import Installation
from tests.waiting import until

JOBS = 40
NODES = 5
RATE = 200.0
"""Frames a second of all jobs together: each of them takes a step a second."""
STEPS = 100
FIRST_BAD, EVERY_BAD = 20, 10
PARTITIONS = 4
SECONDS = 60.0
_SETTINGS = {"TRAINMASTER_HOLD": "0", "TRAINMASTER_KAFKA__SESSION": "10", "TRAINMASTER_SNAPSHOT": "10"}


class _Incident(Struct):
    job: str
    state: str
    updated_time: float


def run() -> Table:
    """Measure with one worker and with two."""
    with services() as (bootstrap, redis_url, folder):
        rows = tuple(
            _row(Installation(f"latency-{n}", bootstrap, redis_url, folder / str(n), PARTITIONS, **_SETTINGS), n)
            for n in (1, 2)
        )
    what = (
        "from handing the last frame of a step to Kafka until the incident it opens (again) is read from `incidents`; "
        f"{JOBS} jobs of {NODES} nodes, together {RATE:.0f} frames/s, one in a message, their losses turn NaN now and "
        "then; nothing is held back"
    )
    columns = ("workers", "revisions", "median ms", "90 % ms", "99 % ms", "longest ms", "frames late to send")
    return Table("kafka_latency", what, columns, rows)


def _row(installation: Installation, number: int) -> tuple[float | int, ...]:
    workers = [installation.start("worker") for _ in range(number)]
    share = PARTITIONS / number
    until(lambda: all(one.metric("trainmaster_partitions") == share for one in workers), SECONDS, "no even share")
    with Listener(installation.bootstrap, f"{installation.name}.incidents") as listener:
        sent, late = _send(installation)
        installation.until_done()
        time.sleep(0.5)  # what was said last is still on its way to the listener
        heard = list(listener.heard)
    installation.close()
    took = 1000.0 * np.array(_delays(heard, sent))
    return (number, len(took), *(float(np.quantile(took, one)) for one in (0.5, 0.9, 0.99, 1.0)), late)


def _send(installation: Installation) -> tuple[dict[tuple[str, int], float], int]:
    """Send at the rate; give when each frame was handed over, and how many were late by more than 5 ms."""
    topic = f"{installation.name}.telemetry"
    producer = KafkaProducer(
        bootstrap_servers=installation.bootstrap, enable_idempotence=False, acks="all", linger_ms=0
    )
    sent: dict[tuple[str, int], float] = {}
    begin, late = time.monotonic(), 0
    for number, (job, step, body) in zip(count(), _bodies(), strict=False):
        due = begin + number / RATE
        time.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        late += now - due > 0.005
        sent[job, step] = now
        producer.send(topic, key=job.encode(), value=body)
    producer.flush()
    producer.close()
    return sent, late


def _bodies() -> list[tuple[str, int, bytes]]:
    """Frames of all jobs in turn; the loss of each is NaN at some steps, at others than its neighbours'."""
    jobs = {f"job-{number}": list(frames(f"job-{number}", NODES, STEPS, seed=number)) for number in range(JOBS)}
    found = []
    for step in range(STEPS):
        for number, (job, (start, *bodies)) in enumerate(jobs.items()):
            first, *others = bodies[step * NODES : (step + 1) * NODES]
            if step > FIRST_BAD and (step + number) % EVERY_BAD == 0:
                first = _without_number(first)
            found += [(job, step, start + b"\n" + first if step == 0 else first)]
            found += [(job, step, body) for body in others]
    return found


def _without_number(body: bytes) -> bytes:
    told = msgspec.json.decode(body)
    told["job_values"]["loss"] = "NaN"
    return msgspec.json.encode(told)


def _delays(heard: list[Heard], sent: dict[tuple[str, int], float]) -> list[float]:
    """Match what opens an incident, or opens it again, with the step it follows from, by the clock of the job."""
    told = [(one.moment, msgspec.json.decode(one.value, type=_Incident)) for one in heard]
    return [
        moment - sent[incident.job, round(incident.updated_time - START) - 1]
        for moment, incident in told
        if incident.state == "open"
    ]
