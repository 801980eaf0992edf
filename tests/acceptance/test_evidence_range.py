"""Evidence is computed again from exactly the stretch of the log that it names."""

from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from schemas.codec import encode
from schemas.incident import Incident
from schemas.origin import Origin
from schemas.telemetry import Telemetry, Tick
from streams.claims import Claims, claims_of
from streams.evidence import Known, recompute_key, verify
from streams.evidence_log import journal_stretch
from streams.runtimes.embedded import Embedded
from streams.runtimes.memories import EVERYBODY
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.snapshots import SqliteSnapshots
from tests.acceptance.replaying import shipped_line
from tests.stages.build import Job

AHEAD = 7
"""Records of nobody in particular before the job begins."""


def story() -> list[Telemetry]:
    """A job in which one rank works 30 % longer."""
    job = Job()
    return [job.started(), *job.run(80), *job.run(120, slow={5: 1.3})]


def entries() -> list[tuple[str, bytes]]:
    """The story in a log with ticks, and with a second job between its records."""
    other = Job()
    beside = [structs.replace(record, job="other") for record in [other.started(), *other.run(80)]]
    told = [(EVERYBODY, encode(Tick(time=float(at), every=5.0))) for at in range(AHEAD)]
    for at, record in enumerate(story()):
        told.append((record.job, encode(record)))
        if at < len(beside):
            told.append((beside[at].job, encode(beside[at])))
    return told


def lived(database: Database, restarted_at: int | None = None) -> SqliteArchive:
    """Run the log through the embedded runtime, perhaps with a restart from its snapshots in between."""
    journal, archive = SqliteJournal(database), SqliteArchive(database)
    log = entries()
    for part in (log[:restarted_at], log[restarted_at:]) if restarted_at else (log,):
        journal.append(part, 0.0)
        runtime = Embedded(shipped_line(), journal, SqliteSnapshots(database), archive, batch=50)
        while runtime.work():
            pass
        runtime.save()
    return archive


def told_in(archive: SqliteArchive) -> tuple[Incident, Claims]:
    """The incident as it stands, with its claims."""
    incidents = [msgspec.json.decode(one.raw, type=Incident) for one in archive.feed(0, 999, ["incidents"])]
    incident = incidents[-1]
    origins = archive.origins("incidents", incident.id)
    return incident, claims_of(incident, origins, lambda one: archive.origins("detections", one))


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A file of its own."""
    return Database(tmp_path / "trainmaster.db")


@pytest.mark.parametrize("restarted_at", [None, 100, 350])
def test_the_stretch_is_enough_and_a_restart_does_not_move_it(database: Database, restarted_at: int | None) -> None:
    """Nothing before or behind the stretch is needed, and memories that were saved know where they begin."""
    incident, claims = told_in(lived(database, restarted_at))
    assert claims.origin is not None
    assert (claims.origin.topic, claims.origin.partition, claims.origin.first) == ("journal", 0, AHEAD + 1)
    begins, records = journal_stretch(Path(database.path), "toy", claims.origin)
    computed = recompute_key(shipped_line(), records, "toy", incident.id)
    outcome = verify(incident, computed, Known(claims, begins))
    assert outcome.holds
    assert computed[-1].revision == incident.revision
    assert computed[-1] == incident
    assert begins == claims.origin.first


def test_a_claim_names_the_stretch_of_its_own_finding(database: Database) -> None:
    """What a detector found rests on the log up to the finding, which came before the verdict."""
    _, claims = told_in(lived(database))
    assert claims.origin is not None
    found = [one for one in claims.claims if one.claim.detector == "slow_rank"]
    assert found
    assert found[0].origin is not None
    assert found[0].origin.first == claims.origin.first
    assert found[0].origin.last < claims.origin.last
    assert len(found[0].claim.version) == 8
    assert found[0].claim.parameters["ratio"] == 1.1
    assert all(one.origin == claims.origin for one in claims.claims if not one.claim.source)


def test_one_record_less_is_not_enough(database: Database) -> None:
    """The last offset is the one with which it was told: without it, there is no such revision yet."""
    incident, claims = told_in(lived(database))
    assert claims.origin is not None
    short = Origin("journal", 0, claims.origin.first, claims.origin.last - 1)
    _, records = journal_stretch(Path(database.path), "toy", short)
    computed = recompute_key(shipped_line(), records, "toy", incident.id)
    assert incident.revision not in [one.revision for one in computed]


def test_what_the_log_no_longer_holds_is_called_out_of_reach(database: Database) -> None:
    """A claim that does not come out of what is left is neither confirmed nor denied."""
    incident, claims = told_in(lived(database))
    assert claims.origin is not None
    SqliteJournal(database).trim(claims.origin.last - 20)
    begins, records = journal_stretch(Path(database.path), "toy", claims.origin)
    outcome = verify(incident, recompute_key(shipped_line(), records, "toy", incident.id), Known(claims, begins))
    assert begins == claims.origin.last - 19
    assert not outcome.holds
    assert {one.standing for one in outcome.claims} == {"out_of_reach"}
    assert f"the log begins at {begins}" in outcome.claims[0].detail


def test_a_changed_claim_is_not_excused_where_the_log_is_whole(database: Database) -> None:
    """Out of reach is said only where something is missing."""
    incident, claims = told_in(lived(database))
    assert claims.origin is not None
    begins, records = journal_stretch(Path(database.path), "toy", claims.origin)
    first = structs.replace(incident.evidence[1], after=9.0)
    forged = structs.replace(incident, evidence=(incident.evidence[0], first, *incident.evidence[2:]))
    outcome = verify(forged, recompute_key(shipped_line(), records, "toy", incident.id), Known(claims, begins))
    assert [one.standing for one in outcome.claims].count("differs") == 1
    assert outcome.count("out_of_reach") == 0
