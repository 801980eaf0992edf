"""What was said, each record once by its identity, in one order that survives a restart, in SQLite."""

import sqlite3
from collections.abc import Sequence

from schemas.action import Control, Request, Result, TaintRecord
from schemas.dead import DeadLetter
from schemas.detection import Detection, Vitals
from schemas.incident import Incident
from schemas.origin import Origin
from schemas.topics import Outbound
from streams.stages.stage import Sent
from streams.stores.database import Database
from streams.stores.incident_shelf import IncidentShelf
from streams.stores.job_shelf import JobShelf
from streams.stores.origin_shelf import OriginShelf
from streams.stores.record_shelf import RecordShelf
from streams.stores.series_shelf import POINTS_KEPT, SeriesShelf
from streams.stores.store import Filed, IncidentQuery, JobSummary, Point

_FILED = frozenset({"detections", "vitals", "incidents", "requests", "results", "control", "taints", "dead"})


class SqliteArchive:
    """The archive of a single process; streams that stay inside the process are not kept.

    Args:
        points_kept: vitals kept of each job and kind of entity; the oldest go first.
    """

    def __init__(self, database: Database, points_kept: int = POINTS_KEPT) -> None:
        self._database = database
        self._records = RecordShelf(database)
        self._incidents = IncidentShelf(database)
        self._origins = OriginShelf(database)
        self._jobs = JobShelf(database)
        self._series = SeriesShelf(database, points_kept)

    def put(self, sent: Sequence[Sent], upto: int) -> None:
        """File records and note, in the same step, that everything up to a journal offset has been said.

        A record that stands already changes nothing; an offset below the one noted does not take it back.
        """
        with self._database.transaction() as connection:
            self._file_all(connection, sent, [None] * len(sent))
            connection.execute("UPDATE progress SET upto = max(upto, ?)", (upto,))

    def file(self, sent: Sequence[Sent], places: Sequence[int | None]) -> None:
        """File records at given places in the order of all records; None leaves the place open.

        Raises:
            PlaceTaken: another record stands there.
        """
        with self._database.transaction() as connection:
            self._file_all(connection, sent, places)

    def progress(self) -> int:
        """Give the journal offset up to which everything has been said."""
        return int(self._database.read("SELECT upto FROM progress")[0][0])

    def feed(self, after: int, limit: int, topics: Sequence[str]) -> list[Filed]:
        """Give records of those topics with a sequence above `after`, in order."""
        return self._records.after(after, limit, topics)

    def last(self) -> int:
        """Give the highest sequence so far, 0 when empty."""
        return self._records.last()

    def horizon(self) -> int:
        """Give the highest sequence that any reader can know of: nobody else tells it."""
        return self.last()

    def incidents(self, query: IncidentQuery) -> tuple[list[Incident], int]:
        """Give the latest revisions, newest change first, and the cursor of the next page (0: none)."""
        return self._incidents.find(query)

    def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision of one incident."""
        return self._records.newest("incidents", incident_id, Incident)

    def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision of one incident, oldest first."""
        return self._records.named("incidents", incident_id, Incident)

    def origins(self, topic: str, id_: str) -> dict[int, Origin]:
        """Give where a detection or an incident comes from, by its revision, as far as that is known."""
        return self._origins.of(topic, id_)

    def requests(self, incident_id: str = "") -> list[Request]:
        """Give all requests, or those of one incident, oldest first."""
        return self._records.of_incident("requests", incident_id, Request)

    def request(self, request_id: str) -> Request | None:
        """Give one request."""
        return self._records.newest("requests", request_id, Request)

    def result(self, request_id: str) -> Result | None:
        """Give how a request ended, None while it has not."""
        return self._records.newest("results", request_id, Result)

    def taints(self, job: str = "") -> list[TaintRecord]:
        """Give the ledger of contaminated steps, oldest entry first."""
        return self._records.of_job("taints", job, TaintRecord)

    def dead(self, limit: int = 100) -> list[DeadLetter]:
        """Give the newest records that could not be read, newest first."""
        return self._records.latest_of("dead", limit, DeadLetter)

    def control(self, job: str) -> Control | None:
        """Give what a trainer shall do differently."""
        return self._records.newest("control", job, Control)

    def jobs(self) -> list[JobSummary]:
        """Give the jobs seen, latest first."""
        return self._jobs.all()

    def series(self, job: str, of: str, begin: float, end: float, points: int) -> list[Point]:
        """Give vitals of a job between two times, thinned to at most `points`; of a thinned group the extremes stay."""
        return self._series.thinned(job, of, begin, end, points)

    def _file_all(self, connection: sqlite3.Connection, sent: Sequence[Sent], places: Sequence[int | None]) -> None:
        for one, place in zip(sent, places, strict=True):
            if one.topic in _FILED and isinstance(one.record, Outbound):
                self._file(connection, one.topic, one.record, place)
                if one.origin is not None:
                    self._origins.note(connection, one.topic, one.record, one.origin)
        if any(one.topic == "dead" for one in sent):
            self._records.forget_old_dead(connection)

    def _file(self, connection: sqlite3.Connection, topic: str, record: Outbound, place: int | None) -> None:
        if isinstance(record, Vitals):
            self._series.add(connection, record)
            self._jobs.note(connection, record)
            return
        sequence = self._records.file(connection, topic, record, place)
        if sequence is None:
            return
        if isinstance(record, Incident):
            self._incidents.note(connection, record, sequence)
        if isinstance(record, Detection | Incident):
            self._jobs.note(connection, record)
