"""An installation on Kafka for one test: topics and keys of its own, and processes that can be killed."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from streams.kafka.placing import partition_of
from streams.kafka.topic_admin import apply
from streams.settings import KafkaSettings
from tests.services.processes import ServerProcess, free_port
from tests.waiting import until

WAIT_SECONDS = 120.0
SESSION = 2.0
DELIVER = 6.0


class Process:
    """A worker, a runner or a server of the installation.

    Args:
        command: the word after `trainmaster`.
        folder: of its state and log.
        environment: settings.
    """

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        folder.mkdir(parents=True)
        self.port = free_port()
        port = "--port" if command == "api" else "--health"
        words = [sys.executable, "-m", "streams", command, port, str(self.port), "--state", str(folder / "state")]
        self._server = ServerProcess(["env", *(f"{k}={v}" for k, v in environment.items()), *words], folder, self.lives)
        self.kill, self.stop, self.freeze, self.thaw = (
            self._server.kill,
            self._server.stop,
            self._server.freeze,
            self._server.thaw,
        )

    def start(self) -> None:
        """Start it; it answers, but need not be ready."""
        self._server.start()

    def revive(self) -> None:
        """Start it again if it has ended, as a supervisor does; it may end once more."""
        if self.has_ended():
            with contextlib.suppress(RuntimeError):
                self.start()

    @property
    def log(self) -> str:
        """What it has printed."""
        return self._server.log.read_text()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._server.pid

    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._server.has_ended()

    def lives(self) -> bool:
        """Whether it answers at all."""
        return self._get("/livez")[0] == 200

    def ready(self) -> bool:
        """Whether it says that it is ready."""
        return self._get("/readyz")[0] == 200

    def faults(self) -> list[str]:
        """What keeps it from being ready; one more where it does not answer."""
        status, body = self._get("/readyz")
        return list(json.loads(body).get("faults", [])) if status else ["no answer"]

    def metric(self, name: str) -> float:
        """A counter or gauge without labels."""
        _, body = self._get("/metrics")
        found = [line.rpartition(" ")[2] for line in body.splitlines() if line.startswith(f"{name} ")]
        return float(found[0]) if found else 0.0

    def get(self, path: str) -> Any:
        """Ask the server's API; None where it has nothing to say."""
        status, body = self._get(f"/api/v1{path}")
        assert status in (200, 204), body
        return json.loads(body) if body else None

    def post(self, path: str, body: bytes) -> tuple[int, Any]:
        """Post to the server's API; give status and answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/v1{path}", body, method="POST")
        request.add_header("Content-Type", "application/json" if body.startswith(b'{"by') else "application/x-ndjson")
        try:
            with urllib.request.urlopen(request, timeout=90.0) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read())

    def _get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10.0) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()
        except OSError:
            return 0, ""


class Installation:
    """Topics, keys and processes under one name.

    Args:
        name: before every topic and key, with something that no other installation has.
        given: further settings as environment variables.
    """

    def __init__(
        self, name: str, bootstrap: str, redis_url: str, folder: Path, partitions: int = 4, **given: str
    ) -> None:
        # Services that outlive the tests remember the names of earlier runs.
        self.name = name = f"{name}-{secrets.token_hex(4)}"
        self.bootstrap, self.folder, self.partitions = bootstrap, folder, partitions
        self.environment = {
            "TRAINMASTER_KAFKA__BOOTSTRAP": bootstrap,
            "TRAINMASTER_KAFKA__PREFIX": f"{name}.",
            "TRAINMASTER_KAFKA__GROUP": name,
            "TRAINMASTER_KAFKA__PARTITIONS": str(partitions),
            "TRAINMASTER_KAFKA__SESSION": str(SESSION),
            "TRAINMASTER_KAFKA__DELIVER": str(DELIVER),
            "TRAINMASTER_REDIS__URL": redis_url,
            "TRAINMASTER_REDIS__PREFIX": name,
            "TRAINMASTER_TICK": "0",
            "TRAINMASTER_SNAPSHOT": "1",
            **given,
        }
        self._count = 0
        self.processes: list[Process] = []
        self.settings = KafkaSettings(bootstrap=bootstrap, prefix=f"{name}.", partitions=partitions)
        apply(self.settings)
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap, enable_idempotence=False, acks="all", linger_ms=0, delivery_timeout_ms=120_000
        )

    def process(self, command: str, **given: str) -> Process:
        """A process of a kind, not started yet."""
        self._count += 1
        process = Process(command, self.folder / f"{command}-{self._count}", {**self.environment, **given})
        self.processes.append(process)
        return process

    def start(self, command: str, **given: str) -> Process:
        """A process of a kind that is ready."""
        process = self.process(command, **given)
        process.start()
        until(process.ready, WAIT_SECONDS, f"{command} did not become ready: {process.faults()}")
        return process

    def start_together(self, *commands: str) -> list[Process]:
        """Processes of these kinds, started at the same time, all of them ready."""
        processes = [self.process(command) for command in commands]
        with ThreadPoolExecutor(len(processes)) as threads:
            list(threads.map(Process.start, processes))
        until(lambda: all(one.ready() for one in processes), WAIT_SECONDS, "somebody did not become ready")
        return processes

    def send(self, messages: Iterable[tuple[str, bytes]]) -> None:
        """Send messages of (job, body) in this order and wait until the broker has them."""
        futures = [
            self._producer.send(f"{self.name}.telemetry", key=job.encode(), value=body) for job, body in messages
        ]
        for future in futures:
            future.get(timeout=150.0)

    def put(self, partition: int, key: str, body: bytes) -> None:
        """Put a message where it does not belong."""
        topic = f"{self.name}.telemetry"
        self._producer.send(topic, key=key.encode(), value=body, partition=partition).get(timeout=30.0)

    def said(self, stream: str) -> list[tuple[str, bytes]]:
        """Everything on a topic as (key, value), partition by partition."""
        topic = f"{self.name}.{stream}"
        with contextlib.closing(KafkaConsumer(bootstrap_servers=self.bootstrap)) as consumer:
            places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
            consumer.assign(places)
            consumer.seek_to_beginning(*places)
            ends = consumer.end_offsets(places)
            found: dict[TopicPartition, list[tuple[str, bytes]]] = {place: [] for place in places}
            while any(consumer.position(place) < end for place, end in ends.items()):
                for place, records in consumer.poll(timeout_ms=500).items():
                    found[place] += [((one.key or b"").decode(), one.value or b"") for one in records]
        return [one for place in places for one in found[place]]

    def committed(self) -> dict[int, int]:
        """The offset up to which each partition is done, as the group says."""
        with contextlib.closing(KafkaConsumer(bootstrap_servers=self.bootstrap, group_id=self.name)) as consumer:
            return {place.partition: consumer.committed(place) or 0 for place in self._places()}

    def ends(self) -> dict[int, int]:
        """Where each partition of the topic telemetry ends."""
        with contextlib.closing(KafkaConsumer(bootstrap_servers=self.bootstrap)) as consumer:
            return {place.partition: end for place, end in consumer.end_offsets(self._places()).items()}

    def is_done(self) -> bool:
        """Whether everything that was sent is done and confirmed."""
        return self.committed() == self.ends()

    def until_done(self) -> None:
        """Wait until everything that was sent is done; processes that end meanwhile are started again."""
        until(lambda: self.revive() or self.is_done(), WAIT_SECONDS, "the workers did not come to the end")

    def until_ready(self) -> None:
        """Wait until every process is ready; those that have ended are started again."""
        until(
            lambda: self.revive() or all(one.ready() for one in self.processes), WAIT_SECONDS, "somebody is not ready"
        )

    def revive(self) -> bool:
        """Do what a supervisor does; give False."""
        for process in self.processes:
            process.revive()
        return False

    def _places(self) -> list[TopicPartition]:
        return [TopicPartition(f"{self.name}.telemetry", number) for number in range(self.partitions)]

    def close(self) -> None:
        """End every process."""
        for process in self.processes:
            process.kill()
        self._producer.close(timeout=1)

    def command(self, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this installation to its end."""
        environment = {**os.environ, **self.environment, **given}
        return subprocess.run(
            [sys.executable, "-m", "streams", *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )


def jobs_of_all_partitions(partitions: int) -> list[str]:
    """One job per partition."""
    jobs: dict[int, str] = {}
    number = 0
    while len(jobs) < partitions:
        job = f"job-{number}"
        jobs.setdefault(partition_of(job, partitions), job)
        number += 1
    return [jobs[one] for one in range(partitions)]


def renamed(lines: Sequence[bytes], suffix: str) -> list[tuple[str, bytes]]:
    """The same telemetry of jobs with longer names, in a cluster of their own, as (job, line).

    What cannot be read goes with the job before it.
    """
    found: list[tuple[str, bytes]] = []
    job = suffix
    for line in lines:
        record = _read(line)
        if record is not None:
            job = record["job"] = f"{record['job']}{suffix}"
            record["cluster"] = f"{record.get('cluster', 'default')}{suffix}"
        found.append((job, line.strip() if record is None else json.dumps(record).encode()))
    return found


def _read(line: bytes) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError):
        record = json.loads(line)
        if isinstance(record, dict) and isinstance(record.get("job"), str):
            return record
    return None
