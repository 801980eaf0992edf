"""The same telemetry through both runtimes: the embedded one, and Faust on a real broker, give the same bytes."""

import gzip
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.codec import encode
from streams.agents.simulated import simulate
from streams.agents.simulation.scenarios import SCENARIOS
from streams.kafka.log_producer import letters
from streams.line import Line
from streams.runtimes.embedded import Embedded
from streams.stages.stage import Sent
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.snapshots import SqliteSnapshots
from streams.topology import topology
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import renamed

pytestmark = pytest.mark.service
CASES = Path(__file__).parents[3] / "shared" / "cases"
COMPARED = ("detections", "incidents", "requests")
Said = dict[tuple[str, str], list[bytes]]


class Gathered:
    """An archive that keeps everything in the order in which it was said."""

    def __init__(self) -> None:
        self.said: list[Sent] = []

    def put(self, sent: list[Sent], upto: int) -> None:  # noqa: ARG002 - nothing is resumed
        """Keep it."""
        self.said += sent


def test_simulated_scenarios_come_out_alike(new_installation: NewInstallation) -> None:
    """Every scenario, with its repeated, late and lost records."""
    lines = {name: list(simulate(name, 3, defects=True)) for name in sorted(SCENARIOS)}
    compare(new_installation, lines)


def test_recorded_cases_come_out_alike(new_installation: NewInstallation) -> None:
    """Every recorded case."""
    compare(new_installation, cases())


def test_recorded_cases_come_out_alike_repeated_and_in_disorder(new_installation: NewInstallation) -> None:
    """Every recorded case, where each tenth record comes twice and neighbours change places."""
    compare(new_installation, {name: disordered(lines) for name, lines in cases().items()})


def compare(new_installation: NewInstallation, telemetry: dict[str, list[bytes]]) -> None:
    """Send telemetry through both runtimes; every key must hear the same, byte by byte."""
    jobs = {name: messages(renamed(lines, f"@{name}")) for name, lines in telemetry.items()}
    installation = new_installation()
    worker = installation.start("worker")
    for bodies in jobs.values():
        installation.send(bodies)
    installation.until_done()
    assert worker.ready(), worker.faults()
    on_kafka = gathered((stream, key, value) for stream in COMPARED for key, value in installation.said(stream))
    embedded = through_embedded(jobs)
    assert set(on_kafka) == set(embedded)
    assert [key for key in embedded if on_kafka[key] != embedded[key]] == []
    assert {stream for stream, _ in embedded} == set(COMPARED)


def through_embedded(jobs: dict[str, list[tuple[str, bytes]]]) -> Said:
    """What the embedded runtime says."""
    causes = load_causes()
    database, archive = Database(":memory:"), Gathered()
    journal = SqliteJournal(database)
    line = Line(topology(causes, load_playbooks(causes=causes)))
    runtime = Embedded(line, journal, SqliteSnapshots(database), archive)  # type: ignore[arg-type]  # only `put` is used
    for bodies in jobs.values():
        for job, body in bodies:
            journal.append([(job, raw) for raw in body.split(b"\n")], 0.0)
        while runtime.work():
            pass
    database.close()
    return gathered((sent.topic, sent.key, encode(sent.record)) for sent in archive.said if sent.topic in COMPARED)


def messages(lines: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Records of a job in messages of up to 50, in their order."""
    jobs: dict[str, list[bytes]] = {}
    for job, line in lines:
        jobs.setdefault(job, []).append(line)
    return [
        (job, letter.value)
        for job, records in jobs.items()
        for at in range(0, len(records), 50)
        for letter in letters(job, records[at : at + 50])
    ]


def gathered(said: Iterable[tuple[str, str, bytes]]) -> Said:
    """By stream and key, in order."""
    result: Said = {}
    for stream, key, value in said:
        result.setdefault((stream, key), []).append(value)
    return result


def cases() -> dict[str, list[bytes]]:
    """The recorded cases; they are no part of the project."""
    files = sorted(CASES.glob("*.jsonl.gz"))
    if not files:
        pytest.skip(f"NOT TESTED on recorded cases: there are none at {CASES}")
    return {file.name.removesuffix(".jsonl.gz"): gzip.decompress(file.read_bytes()).splitlines() for file in files}


def disordered(lines: list[bytes]) -> list[bytes]:
    """The same lines, some twice, and each up to three places away from its own."""
    dice = random.Random(len(lines))
    doubled = [line for line in lines for _ in range(2 if dice.random() < 0.1 else 1)]
    return [line for _, line in sorted(enumerate(doubled), key=lambda pair: pair[0] + dice.uniform(0.0, 3.0))]
