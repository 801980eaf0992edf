"""Telemetry in arrival order, in SQLite."""

from collections.abc import Sequence

from streams.stores.database import Database
from streams.stores.store import Entry


class SqliteJournal:
    """The journal of a single process; what `append` has answered survives kill and power failure."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, messages: Sequence[tuple[str, bytes]], received: float) -> int:
        """Append (key, raw) pairs in one durable step; give the last offset."""
        if not messages:
            return self.last()
        rows = [(key, raw, received) for key, raw in messages]
        with self._database.durable() as connection:
            connection.executemany("INSERT INTO journal (key, raw, received) VALUES (?, ?, ?)", rows)
            (offset,) = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        return int(offset)

    def read(self, after: int, limit: int) -> list[Entry]:
        """Give entries with an offset above `after`, in order."""
        statement = "SELECT offset, key, raw, received FROM journal WHERE offset > ? ORDER BY offset LIMIT ?"
        return [Entry(*row) for row in self._database.read(statement, (after, limit))]

    def trim(self, upto: int) -> None:
        """Forget entries up to and including an offset."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM journal WHERE offset <= ?", (upto,))

    def last(self) -> int:
        """Give the highest offset so far, 0 when empty; it does not go back when entries are trimmed."""
        rows = self._database.read("SELECT seq FROM sqlite_sequence WHERE name = 'journal'")
        return int(rows[0][0]) if rows else 0
