"""Evidence on Kafka: the claims name topic, partition and offsets, and are computed again from those messages alone."""

import pytest
from msgspec import structs
from typer.testing import CliRunner

from schemas.codec import encode
from streams.cli import app
from streams.kafka.placing import partition_of
from tests.kafka.conftest import NewInstallation
from tests.kafka.telling import Bodies, in_messages
from tests.stages.build import Job
from tests.waiting import until

pytestmark = pytest.mark.service
SECONDS = 60.0


def messages() -> tuple[Bodies, str]:
    """A job with a slow rank, in messages, and its key."""
    job, key = Job(), "evidence"
    story = [job.started(), *job.run(80), *job.run(120, slow={5: 1.3})]
    return in_messages([(key, encode(structs.replace(record, job=key))) for record in story]), key


def test_claims_are_verified_from_the_offsets_they_name(
    new_installation: NewInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the worker was killed in between: the one that goes on knows where the memory begins."""
    installation = new_installation(2)
    bodies, key = messages()
    place = partition_of(key, 2)
    stray = next(name for name in (f"before-{n}" for n in range(99)) if partition_of(name, 2) == place)
    installation.send([(stray, encode(structs.replace(Job().started(), job=stray)))])
    worker = installation.start("worker")
    api = installation.start("api")
    installation.send(bodies[:2])
    installation.until_done()
    worker.kill()
    installation.send(bodies[2:])
    installation.until_done()
    until(lambda: api.get(f"/incidents?job={key}")["items"], SECONDS, "the server knows of no incident")
    [incident] = api.get(f"/incidents?job={key}")["items"]
    origin = api.get(f"/incidents/{incident['id']}/evidence")["origin"]
    assert (origin["topic"], origin["partition"], origin["first"]) == ("telemetry", place, 1)
    assert 2 < origin["last"] <= len(bodies)
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)
    url = f"http://127.0.0.1:{api.port}"
    result = CliRunner().invoke(app, ["evidence", "verify", incident["id"], "--url", url])
    assert result.exit_code == 0, result.output
    assert f"telemetry/{place} 1 to {origin['last']}" in " ".join(result.output.split())
