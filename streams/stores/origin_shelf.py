"""Which stretch of the log each detection and each revision of an incident was made of."""

import sqlite3

from schemas.origin import Origin
from schemas.topics import Outbound
from streams.stores.database import Database
from streams.stores.identity import identify


class OriginShelf:
    """The table `origins`: beside the records, for the same record lies elsewhere in another log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, connection: sqlite3.Connection, topic: str, record: Outbound, origin: Origin) -> None:
        """Note where a record comes from."""
        identity = identify(record)
        row = (topic, identity.id, identity.revision, origin.topic, origin.partition, origin.first, origin.last)
        connection.execute("INSERT OR IGNORE INTO origins VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def of(self, topic: str, id_: str) -> dict[int, Origin]:
        """Give the origins of a record by its revision, as far as they are known."""
        rows = self._database.read(
            "SELECT revision, log, partition, first, last FROM origins WHERE topic = ? AND id = ? ORDER BY revision",
            (topic, id_),
        )
        return {int(revision): Origin(*where) for revision, *where in rows}
