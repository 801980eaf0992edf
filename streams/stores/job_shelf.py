"""The jobs seen, with their latest attempt, step and time."""

import sqlite3

from schemas.detection import Detection, Vitals
from schemas.incident import Incident
from streams.stores.database import Database
from streams.stores.store import JobSummary


class JobShelf:
    """The table `jobs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, connection: sqlite3.Connection, record: Vitals | Detection | Incident) -> None:
        """Note what a record tells of its job; an older attempt changes nothing, nothing goes back within one."""
        time = record.updated_time if isinstance(record, Incident) else record.time
        step = None if isinstance(record, Incident) else record.step
        connection.execute(
            "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4) ON CONFLICT (job) DO UPDATE SET "
            "step = CASE WHEN ?2 > attempt THEN ?3 ELSE max(coalesce(?3, step), coalesce(step, ?3)) END, "
            "attempt = ?2, time = max(time, ?4) WHERE ?2 >= attempt",
            (record.job, record.attempt, step, time),
        )

    def all(self) -> list[JobSummary]:
        """Give the jobs seen, latest first."""
        rows = self._database.read(
            "SELECT job, attempt, step, time, (SELECT count(*) FROM incidents i WHERE i.job = jobs.job "
            "AND i.state IN ('open', 'acting', 'recovering')) FROM jobs ORDER BY time DESC, job"
        )
        return [JobSummary(*row) for row in rows]
