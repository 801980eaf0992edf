"""Memory of keys with the offset up to which it is true, in SQLite."""

from collections.abc import Sequence

from streams.stores.database import Database
from streams.stores.store import Snapshot


class SqliteSnapshots:
    """The snapshots of a single process; all of one `save` are kept or none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, snapshots: Sequence[Snapshot]) -> None:
        """Keep the newest of each key; one with a smaller offset than the stored one is ignored."""
        rows = [(snapshot.key, snapshot.offset, snapshot.data) for snapshot in snapshots]
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT INTO snapshots VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE "
                "SET offset = excluded.offset, data = excluded.data WHERE excluded.offset >= offset",
                rows,
            )

    def load(self, key: str) -> Snapshot | None:
        """Give the newest of a key."""
        rows = self._database.read("SELECT key, offset, data FROM snapshots WHERE key = ?", (key,))
        return Snapshot(*rows[0]) if rows else None

    def keys(self) -> list[str]:
        """List the keys that have one, in order."""
        return [key for (key,) in self._database.read("SELECT key FROM snapshots ORDER BY key")]
