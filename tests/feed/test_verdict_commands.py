"""The commands that read verdicts from a running server."""

import json
from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from schemas.codec import encode
from schemas.incident import Incident, RankedCause
from streams.cli import app
from streams.replay import replay
from streams.runtimes.embedded import Embedded
from streams.stores.snapshots import SqliteSnapshots
from streams.stores.store import IncidentQuery
from tests.acceptance.replaying import shipped_line
from tests.feed.conftest import Feed
from tests.playbooks.case import an_incident
from tests.stages.build import Job


def run(*words: str) -> tuple[int, str]:
    """Run a command in this process; give its exit code and what it printed."""
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


@pytest.fixture
def telemetry(tmp_path: Path) -> Path:
    """A recorded job with a slow rank."""
    job = Job()
    story = [job.started(), *job.run(80), *job.run(120, slow={5: 1.3})]
    file = tmp_path / "job.jsonl"
    file.write_bytes(b"".join(encode(record) + b"\n" for record in story))
    return file


def told(feed: Feed, telemetry: Path) -> Incident:
    """File what the recorded job leads to; give the incident as it stands."""
    said = replay(shipped_line(), telemetry.read_bytes().splitlines()).said
    feed.archive.put([sent for sent in said if sent.topic in ("incidents", "detections")], 0)
    return [sent.record for sent in said if isinstance(sent.record, Incident)][-1]


def test_explain_speaks_in_words(feed: Feed, telemetry: Path) -> None:
    """The lines name the culprit and where to look."""
    code, text = run("incidents", "explain", told(feed, telemetry).id, "--url", feed.url)
    assert code == 0
    for part in ("one GPU is slower", "n2 (ranks 5) is to blame", "Why:", "Being done:", "Look at:"):
        assert part in text or part.replace("n2 (ranks 5)", "GPU-5 on n2") in text


def test_costs_are_printed_with_their_method(feed: Feed, telemetry: Path) -> None:
    """The table is JSON for a program, with the method beside it; another sum is refused in one line."""
    incident = told(feed, telemetry)
    code, text = run("costs", "--by", "cause", "--json", "--url", feed.url)
    given = json.loads(text)
    assert code == 0
    assert given["rows"] == [
        {"name": "slow_gpu", "incidents": 1, "gpu_hours": incident.gpu_hours_lost, "share": 1.0},
    ]
    assert "frozen" in given["method"]
    assert run("costs", "--by", "weather", "--url", feed.url)[0] == 1


def test_evidence_is_verified_against_the_recorded_telemetry(feed: Feed, telemetry: Path) -> None:
    """The whole recording verifies; a part of it does not, and the exit code says so."""
    incident = told(feed, telemetry)
    assert run("evidence", "verify", incident.id, "--telemetry", str(telemetry), "--url", feed.url)[0] == 0
    part = telemetry.with_name("part.jsonl")
    part.write_bytes(b"\n".join(telemetry.read_bytes().splitlines()[-100:]))
    assert run("evidence", "verify", incident.id, "--telemetry", str(part), "--url", feed.url)[0] == 1


def test_evidence_names_its_stretch_of_the_log_and_is_verified_from_it(
    feed: Feed, telemetry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`show` names detector, version and offsets; `verify` reads those, and says what is out of reach."""
    monkeypatch.setenv("TRAINMASTER_STATE", str(tmp_path))
    feed.journal.append([("toy", raw) for raw in telemetry.read_bytes().splitlines()], 0.0)
    runtime = Embedded(shipped_line(), feed.journal, SqliteSnapshots(feed.database), feed.archive)
    while runtime.work():
        pass
    [incident], _ = feed.archive.incidents(IncidentQuery())
    claims = feed.call("GET", f"/api/v1/incidents/{incident.id}/evidence").json()
    found = next(one for one in claims["claims"] if one["claim"]["detector"] == "slow_rank")
    assert len(found["claim"]["version"]) == 8
    assert found["claim"]["parameters"]["ratio"] == 1.1
    first, last = claims["origin"]["first"], claims["origin"]["last"]
    assert (claims["origin"]["topic"], first) == ("journal", 1)
    assert found["origin"]["last"] < last
    code, text = run("evidence", "show", incident.id, "--url", feed.url)
    assert (code, f"journal {first} to {last}" in " ".join(text.split())) == (0, True)
    code, text = run("evidence", "verify", incident.id, "--url", feed.url)
    assert (code, f"from journal {first} to {last}" in " ".join(text.split())) == (0, True)
    feed.journal.trim(last - 20)
    code, text = run("evidence", "verify", incident.id, "--url", feed.url)
    assert (code, "the log no longer reaches back" in " ".join(text.split())) == (1, True)


def test_priors_are_proposed_and_nothing_is_changed(feed: Feed, telemetry: Path) -> None:
    """Without a verdict of a person there is nothing to propose."""
    told(feed, telemetry)
    code, text = run("priors", "--url", feed.url)
    assert code == 0
    assert "[priors]" not in text


def test_a_proposed_prior_names_the_verdicts_behind_it_and_one_can_be_taken_out(feed: Feed) -> None:
    """Whoever reads the lines can look every verdict up; without the one that was wrong, its effect is gone."""
    led = (RankedCause(cause="network_congestion", score=0.8, weight=4.0),)
    for number, person in enumerate(("ann", "bob")):
        closed = an_incident(id=f"inc-{number}", state="closed", cause="slow_gpu", layer="gpu", causes=led)
        feed.put("incidents", structs.replace(closed, acknowledged_by=person))
    code, text = run("priors", "--url", feed.url)
    assert code == 0
    assert "# inc-0, ann: slow_gpu" in text
    assert "# inc-1, bob: slow_gpu, not network_congestion" in text
    assert "slow_gpu = 0.41  # confirmed 2, overruled 0" in text
    code, text = run("priors", "--without", "inc-1", "--url", feed.url)
    assert "slow_gpu = 0.22  # confirmed 1, overruled 0" in text
    assert "bob" not in text
