"""Frames per second through one worker and two, against consumers that do nothing, all in one run."""

import json
import subprocess
import sys
import time
from pathlib import Path

import psutil
from msgspec import Struct

from bench.kafka.load import frames
from bench.kafka.services import services
from bench.table import Table
from tests.kafka.installation import Installation, Process, jobs_of_all_partitions
from tests.waiting import until

PARTITIONS = 4
NODES = 256
STEPS = 120
SECONDS = 300.0
_NAMES = {
    "aiokafka": "bare aiokafka consumer",
    "faust": "bare Faust agent",
    "faust-uvloop": "bare Faust agent on uvloop, as ours",
}


class Measured(Struct, frozen=True):
    """What one way took for all messages: seconds by the clock, and of CPU time of its processes."""

    what: str
    messages: int
    frames: int
    seconds: float
    cpu: float


def run() -> Table:
    """Measure every way on the same broker, one after the other."""
    jobs = jobs_of_all_partitions(PARTITIONS)
    records = {job: list(frames(job, NODES, STEPS, seed=at)) for at, job in enumerate(jobs)}
    with services() as (bootstrap, redis_url, folder):
        measured = [
            _bare(bootstrap, redis_url, folder, records, "aiokafka"),
            _bare(bootstrap, redis_url, folder, records, "faust"),
            _bare(bootstrap, redis_url, folder, records, "faust-uvloop"),
            _workers(bootstrap, redis_url, folder, records, 1, 1),
            _workers(bootstrap, redis_url, folder, records, 50, 1),
            _workers(bootstrap, redis_url, folder, records, 50, 2),
        ]
    bare = measured[1].messages / measured[1].seconds
    rows = tuple(
        (
            one.what,
            one.messages,
            one.frames / one.seconds,
            1e6 * one.cpu / one.messages,
            1e6 * one.cpu / one.frames,
            one.frames / one.seconds / bare,
        )
        for one in measured
    )
    columns = ("what", "messages", "frames/s", "CPU µs/message", "CPU µs/frame", "frames per message of bare Faust")
    what = (
        f"{PARTITIONS} jobs of {NODES} nodes with {8 * NODES} ranks, {STEPS} steps, all detectors on; "
        "broker and workers share the cores"
    )
    return Table("kafka_throughput", what, columns, rows)


def _bare(bootstrap: str, redis_url: str, folder: Path, records: dict[str, list[bytes]], kind: str) -> Measured:
    name = f"bare-{kind}"
    installation = Installation(name, bootstrap, redis_url, folder / kind, PARTITIONS)
    messages = _messages(records, 1)
    installation.send(messages)
    command = [sys.executable, "-m", "bench.kafka.bare_consumer", kind, bootstrap, f"{installation.name}.telemetry"]
    command += [str(PARTITIONS), str(len(messages))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    told = json.loads(done.stdout[done.stdout.index("{") :])
    installation.close()
    what = _NAMES[kind]
    return Measured(what, len(messages), len(messages), told["seconds"], told["cpu"])


def _workers(
    bootstrap: str, redis_url: str, folder: Path, records: dict[str, list[bytes]], per_message: int, number: int
) -> Measured:
    """Let workers join, freeze them while the messages are sent, and let them go."""
    name = f"workers-{number}-{per_message}"
    given = {"TRAINMASTER_KAFKA__SESSION": "60", "TRAINMASTER_KAFKA__DELIVER": "60", "TRAINMASTER_SNAPSHOT": "10"}
    installation = Installation(name, bootstrap, redis_url, folder / name, PARTITIONS, **given)
    workers = [installation.start("worker") for _ in range(number)]
    share = PARTITIONS / number
    until(lambda: all(one.metric("trainmaster_partitions") == share for one in workers), SECONDS, "no even share")
    for worker in workers:
        worker.freeze()
    messages = _messages(records, per_message)
    installation.send(messages)
    total = sum(map(len, records.values()))
    before, begin = _cpu(workers), time.perf_counter()
    for worker in workers:
        worker.thaw()
    until(lambda: sum(one.metric("trainmaster_records_total") for one in workers) >= total, SECONDS, "not all taken")
    seconds, cpu = time.perf_counter() - begin, _cpu(workers) - before
    installation.close()
    what = f"{number} worker{'s' * (number > 1)}, {per_message} frame{'s' * (per_message > 1)} a message"
    return Measured(what, len(messages), total, seconds, cpu)


def _messages(records: dict[str, list[bytes]], size: int) -> list[tuple[str, bytes]]:
    """Messages of all jobs in turn."""
    longest = max(map(len, records.values()))
    return [
        (job, b"\n".join(lines[at : at + size]))
        for at in range(0, longest, size)
        for job, lines in records.items()
        if lines[at : at + size]
    ]


def _cpu(workers: list[Process]) -> float:
    times = [psutil.Process(one.pid).cpu_times() for one in workers]
    return sum(one.user + one.system for one in times)
