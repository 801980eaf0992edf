"""Counters in SQLite."""

from streams.stores.database import Database


class SqliteNumbers:
    """Counters of a single process; they survive a restart."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def following(self, name: str) -> int:
        """Give the next number of a counter; nobody gets the same one twice. The first is 1."""
        with self._database.transaction() as connection:
            (value,) = connection.execute(
                "INSERT INTO counters VALUES (?, 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value",
                (name,),
            ).fetchone()
        return int(value)
