"""Every record but the vitals: each once by its identity, numbered in the order in which it was filed."""

import sqlite3
from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

from schemas.codec import encode, from_wire
from schemas.topics import Outbound
from streams.stores.database import Database
from streams.stores.identity import identify
from streams.stores.store import Filed

R = TypeVar("R", bound=Struct)
DEAD_KEPT = 1_000
"""Unreadable records kept; a broken agent sends them for hours, and each may be 64 KiB."""


class PlaceTaken(RuntimeError):
    """Two records claim the same place in the order of all."""


class RecordShelf:
    """The table `records`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def file(
        self, connection: sqlite3.Connection, topic: str, record: Outbound, place: int | None = None
    ) -> int | None:
        """File a record, at a given place or the next one; give its sequence, or None where it stands already.

        Raises:
            PlaceTaken: another record stands at that place.
        """
        identity = identify(record)
        try:
            rows = connection.execute(
                "INSERT INTO records (sequence, topic, id, revision, job, incident, raw) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (topic, id, revision) DO NOTHING RETURNING sequence",
                (place, topic, identity.id, identity.revision, identity.job, identity.incident, encode(record)),
            ).fetchall()
        except sqlite3.IntegrityError:
            raise PlaceTaken(f"place {place} of the feed is taken; were the numbers in Redis lost?") from None
        return int(rows[0][0]) if rows else None

    def forget_old_dead(self, connection: sqlite3.Connection) -> None:
        """Keep only the newest records that could not be read."""
        connection.execute(
            "DELETE FROM records WHERE topic = 'dead' AND sequence <= "
            "(SELECT sequence FROM records WHERE topic = 'dead' ORDER BY sequence DESC LIMIT 1 OFFSET ?)",
            (DEAD_KEPT,),
        )

    def after(self, sequence: int, limit: int, topics: Sequence[str]) -> list[Filed]:
        """Give records of those topics above a sequence, in order."""
        marks = ", ".join("?" * len(topics))
        rows = self._database.read(
            f"SELECT sequence, topic, raw FROM records WHERE sequence > ? AND topic IN ({marks}) "  # noqa: S608 - marks
            "ORDER BY sequence LIMIT ?",
            (sequence, *topics, limit),
        )
        return [Filed(*row) for row in rows]

    def last(self) -> int:
        """Give the highest sequence so far, 0 when empty."""
        return int(self._database.read("SELECT coalesce(max(sequence), 0) FROM records")[0][0])

    def named(self, topic: str, id_: str, record_type: type[R]) -> list[R]:
        """Give every revision of a record, oldest first."""
        return self._records("topic = ? AND id = ? ORDER BY revision", (topic, id_), record_type)

    def newest(self, topic: str, id_: str, record_type: type[R]) -> R | None:
        """Give the highest revision of a record."""
        found = self._records("topic = ? AND id = ? ORDER BY revision DESC LIMIT 1", (topic, id_), record_type)
        return found[0] if found else None

    def of_incident(self, topic: str, incident: str, record_type: type[R]) -> list[R]:
        """Give the records of an incident, or of all where it is "", oldest first."""
        if incident:
            return self._records("topic = ? AND incident = ? ORDER BY sequence", (topic, incident), record_type)
        return self._records("topic = ? ORDER BY sequence", (topic,), record_type)

    def of_job(self, topic: str, job: str, record_type: type[R]) -> list[R]:
        """Give the records of a job, or of all where it is "", oldest first."""
        if job:
            return self._records("topic = ? AND job = ? ORDER BY sequence", (topic, job), record_type)
        return self._records("topic = ? ORDER BY sequence", (topic,), record_type)

    def latest_of(self, topic: str, limit: int, record_type: type[R]) -> list[R]:
        """Give the last records filed under a topic, newest first."""
        return self._records("topic = ? ORDER BY sequence DESC LIMIT ?", (topic, limit), record_type)

    def _records(self, condition: str, parameters: Sequence[str | int], record_type: type[R]) -> list[R]:
        rows = self._database.read(
            f"SELECT raw FROM records WHERE {condition}",  # noqa: S608 - conditions stand above, values are bound
            parameters,
        )
        return [from_wire(raw, record_type) for (raw,) in rows]
