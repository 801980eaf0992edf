"""The present view of every incident: which revision is the highest, and what it can be found by."""

import sqlite3

from schemas.codec import from_wire
from schemas.incident import Incident
from streams.stores.database import Database
from streams.stores.store import IncidentQuery


class IncidentShelf:
    """The tables `incidents` and `incident_nodes`: an index into the records, kept in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, connection: sqlite3.Connection, incident: Incident, sequence: int) -> None:
        """Note a new revision; an older one than the present changes nothing."""
        connection.execute(
            "INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "revision = excluded.revision, sequence = excluded.sequence, job = excluded.job, state = excluded.state, "
            "updated = excluded.updated WHERE excluded.revision > revision",
            (incident.id, incident.revision, sequence, incident.job, incident.state, incident.updated_time),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO incident_nodes VALUES (?, ?)", [(node, incident.id) for node in _nodes(incident)]
        )

    def find(self, query: IncidentQuery) -> tuple[list[Incident], int]:
        """Give the highest revisions, newest change first, and the cursor of the next page (0: none)."""
        rows = self._database.read(
            "SELECT i.sequence, r.raw FROM incidents i JOIN records r ON r.sequence = i.sequence "
            "WHERE (?1 = '' OR i.state = ?1) AND (?2 = '' OR i.job = ?2) AND i.updated >= ?3 "
            "AND (?4 = 0 OR i.sequence < ?4) "
            "AND (?5 = '' OR EXISTS (SELECT 1 FROM incident_nodes n WHERE n.node = ?5 AND n.incident = i.id)) "
            "ORDER BY i.sequence DESC LIMIT ?6",
            (query.state, query.job, query.since, query.cursor, query.node, query.limit + 1),
        )
        page = rows[: query.limit]
        return [from_wire(raw, Incident) for _, raw in page], int(page[-1][0]) if len(rows) > len(page) else 0


def _nodes(incident: Incident) -> set[str]:
    """Give the culprits, the victims and the suspected nodes alike: an operator asks what happened to a node."""
    suspected = {suspect.id for suspect in incident.suspects if suspect.kind == "node"}
    return {*incident.nodes, *incident.affected.nodes, *suspected}
