"""The same telemetry through both runtimes: the embedded one, and Faust on a real broker, give the same bytes."""

import gzip
import os
import random
from pathlib import Path

import pytest

from streams.agents.simulated import simulate
from streams.agents.simulation.scenarios import SCENARIOS
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation, renamed
from tests.kafka.telling import COMPARED, Bodies, in_messages, on_kafka, through_embedded

pytestmark = pytest.mark.service
SHARED = Path(os.environ.get("TRAINMASTER_SHARED", Path(__file__).parents[3] / "shared"))
CASES = SHARED / "cases"


def test_simulated_scenarios_come_out_alike(new_installation: NewInstallation) -> None:
    """Every scenario, with its repeated, late and lost records."""
    compare(new_installation, {name: list(simulate(name, 3, defects=True)) for name in sorted(SCENARIOS)})


@pytest.mark.recorded
def test_recorded_cases_come_out_alike(new_installation: NewInstallation) -> None:
    """Every recorded case."""
    compare(new_installation, cases())


@pytest.mark.recorded
def test_recorded_cases_come_out_alike_repeated_and_in_disorder(new_installation: NewInstallation) -> None:
    """Every recorded case, where each tenth record comes twice and neighbours change places."""
    compare(new_installation, {name: disordered(lines) for name, lines in cases().items()})


def compare(new_installation: NewInstallation, telemetry: dict[str, list[bytes]]) -> None:
    """Send telemetry through both runtimes; every key must hear the same, byte by byte.

    Where several jobs report to one cluster, what it says depends on whom it hears first, and partitions have no order
    between them: such files go into a single one, and all of it is there before the worker begins.
    """
    alone = {name: lines for name, lines in telemetry.items() if len(jobs_of(lines)) == 1}
    apart = new_installation()
    worker = apart.start("worker")
    come_out_alike(apart, sent_to(apart, alone))
    assert worker.ready(), worker.faults()
    together = {name: lines for name, lines in telemetry.items() if name not in alone}
    if together:
        single = new_installation(1)
        bodies = sent_to(single, together)
        single.start("worker")
        come_out_alike(single, bodies)


def sent_to(installation: Installation, telemetry: dict[str, list[bytes]]) -> Bodies:
    """Send telemetry in messages; give them."""
    bodies = [one for name, lines in telemetry.items() for one in in_messages(renamed(lines, f"@{name}"))]
    installation.send(bodies)
    return bodies


def come_out_alike(installation: Installation, bodies: Bodies) -> None:
    """What the embedded runtime says is what stands on the broker."""
    here = through_embedded(bodies)  # while the worker works
    installation.until_done()
    there = on_kafka(installation)
    assert set(there) == set(here)
    assert [key for key in here if there[key] != here[key]] == []
    assert {stream for stream, _ in here} == set(COMPARED)


def jobs_of(lines: list[bytes]) -> set[str]:
    """The keys of a file."""
    return {job for job, _ in renamed(lines, "")}


def cases() -> dict[str, list[bytes]]:
    """The recorded cases; they are no part of the project."""
    files = sorted(CASES.glob("*.jsonl.gz"))
    if not files:
        pytest.skip(f"NOT TESTED on recorded cases: there are none at {CASES} (set TRAINMASTER_SHARED)")
    return {file.name.removesuffix(".jsonl.gz"): gzip.decompress(file.read_bytes()).splitlines() for file in files}


def disordered(lines: list[bytes]) -> list[bytes]:
    """The same lines, some twice, and each up to three places away from its own."""
    dice = random.Random(len(lines))
    doubled = [line for line in lines for _ in range(2 if dice.random() < 0.1 else 1)]
    return [line for _, line in sorted(enumerate(doubled), key=lambda pair: pair[0] + dice.uniform(0.0, 3.0))]
