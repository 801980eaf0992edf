"""How far the streams of the log have been copied, in SQLite."""

from collections.abc import Mapping

from streams.stores.database import Database

Place = tuple[str, int]
"""Topic and partition."""


class SqlitePositions:
    """The next offset of each partition of each topic."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> dict[Place, int]:
        """Give those that are known."""
        rows = self._database.read("SELECT topic, partition, next FROM positions")
        return {(topic, partition): following for topic, partition, following in rows}

    def save(self, positions: Mapping[Place, int]) -> None:
        """Keep them."""
        rows = [(topic, partition, following) for (topic, partition), following in positions.items()]
        with self._database.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", rows)
