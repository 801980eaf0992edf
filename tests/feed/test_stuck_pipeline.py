"""Readiness tells the truth about a pipeline that no longer gets on."""

import pytest

from streams.feed.health import STUCK_SECONDS, Health
from streams.feed.problems import Problem
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal


def test_a_pipeline_without_progress_is_not_ready() -> None:
    """After a minute with work and without progress it is not ready; any progress makes it ready again."""
    moment = 0.0
    database = Database(":memory:")
    journal, archive = SqliteJournal(database), SqliteArchive(database)
    health = Health(journal, archive, clock=lambda: moment)
    moment = 1000.0
    assert health.ready().status_code == 200
    journal.append([("a", b"1"), ("a", b"2")], 1.0)
    assert health.ready().status_code == 200
    moment += STUCK_SECONDS + 1
    with pytest.raises(Problem) as told:
        health.ready()
    assert told.value.status == 503
    archive.put([], 1)
    assert health.ready().status_code == 200
    archive.put([], 2)
    moment += 10 * STUCK_SECONDS
    assert health.ready().status_code == 200
    database.close()
