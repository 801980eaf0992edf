"""The worked case over Kafka, with every kind of process: one incident, cured once, proved and over."""

import json
from collections import Counter

import msgspec
import pytest

from schemas.action import Control
from schemas.codec import encode, from_wire
from schemas.incident import Incident
from schemas.telemetry import Inbound
from streams.agents.simulated import seeded, simulate
from streams.agents.simulation.simulation import Simulation
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation, Process
from tests.kafka.orders import endings, results
from tests.waiting import until

pytestmark = pytest.mark.service
RECORDS = 900
"""Of some eighty steps."""
SECONDS = 60.0
CURES = {"loader.use_cache", "checkpoint.defer"}
MODES = {
    "loader-to-nvme-cache": "act",
    "checkpoint-off-the-critical-path": "act",
    "mark-contaminated-steps": "act",
    "tell-people": "observe",
}


def play(installation: Installation, servers: tuple[Process, Process], simulation: Simulation) -> None:
    """Let a job run; now and then it stands still until the installation has done all it is going to do.

    So the job hears of a cure after some eighty steps, however busy the machine is. It hears from a server, as a node
    agent does: without a control document that comes through nothing would recover.
    """
    turn = 0
    while not simulation.finished:
        status, _ = servers[turn % 2].post("/telemetry", b"\n".join(map(encode, stretch(simulation))))
        assert status == 200
        until(installation.is_done, SECONDS, "the worker did not come to the end")
        until(lambda: has_ended(installation), SECONDS, "a request has not ended")
        until(lambda: control_of(servers[0]) == control_of(servers[1]), SECONDS, "the servers do not agree")
        if (control := control_of(servers[turn % 2])) is not None:
            simulation.control(control)
        turn += 1


def stretch(simulation: Simulation) -> list[Inbound]:
    """Let the job run for a while, or to its end."""
    sent: list[Inbound] = []
    while len(sent) < RECORDS and not simulation.finished:
        sent += simulation.advance()
    return sent


def has_ended(installation: Installation) -> bool:
    """Whether every request that shall be run has a result."""
    wanted = [json.loads(raw) for _, raw in installation.said("requests")]
    return {one["id"] for one in wanted if one["decision"] == "act"} <= {one.request for one in results(installation)}


def control_of(server: Process) -> Control | None:
    """What a server tells the trainer."""
    told = server.get("/control/wm-64")
    return None if told is None else msgspec.convert(told, Control)


def test_the_worked_case_is_cured_once_and_proved(new_installation: NewInstallation) -> None:
    """A worker, two runners and two servers: the job slows, both cures are applied once, verified, and it is over."""
    installation = new_installation(2, TRAINMASTER_MODES=json.dumps(MODES))
    first, second = installation.start_together("api", "api", "worker", "act", "act")[:2]
    play(installation, (first, second), seeded("brief64", 2))
    installation.until_done()
    until(
        lambda: [one["state"] for one in second.get("/incidents")["items"]] == ["resolved"],
        SECONDS,
        "the case is not over",
    )
    [incident] = second.get("/incidents")["items"]
    assert (incident["cause"], incident["job"]) == ("loader_starved_by_storage", "wm-64")
    verified = [one["action"] for one in incident["actions"] if one["verification"] == "verified"]
    assert sorted(verified) == sorted(CURES)
    until(lambda: first.get("/incidents")["items"] == [incident], SECONDS, "the servers do not agree")

    requested = Counter(one["request"]["action"] for one in first.get("/requests")["items"])
    assert {name: requested[name] for name in CURES} == dict.fromkeys(CURES, 1)
    assert {one.outcome for one in results(installation)} == {"done"}
    assert {one.request for one in results(installation)} == {subject for _, subject in endings(installation)}
    versions = [json.loads(raw)["version"] for _, raw in installation.said("control")]
    assert sorted(set(versions)) == list(range(1, max(versions) + 1))
    said = [from_wire(raw, Incident) for _, raw in installation.said("incidents")]
    assert [(one.id, one.revision) for one in said] == [(incident["id"], n) for n in range(1, len(said) + 1)]
    assert (said[-1].state, said[-1].revision) == ("resolved", incident["revision"])


def test_a_simulated_job_feeds_kafka(new_installation: NewInstallation) -> None:
    """`simulate --kafka` puts the same records on the topic that it prints without, in their order."""
    installation = new_installation(2)
    done = installation.command("simulate", "lone_stalls", "--seed", "3", "--kafka", "--per-message", "30")
    assert done.returncode == 0, done.stderr
    sent = [line for _, body in installation.said("telemetry") for line in body.splitlines()]
    assert sent == [line.strip() for line in simulate("lone_stalls", 3, defects=False)]
    assert done.stderr.endswith(f"{len(sent)} records sent\n")
