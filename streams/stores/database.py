"""The SQLite file: one writer, one reader, and two strengths of a promise."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from streams.stores.layout import TABLES, UPGRADES, VERSION

Row = tuple[Any, ...]  # Any: what a column holds is known by the statement alone
Parameters = Sequence[str | int | float | bytes | None]
IN_MEMORY = ":memory:"
_BUSY_SECONDS = 10.0


class WrongVersion(RuntimeError):
    """The file was written by another version of Trainmaster, or by another program."""


class Database:
    """One file with all tables, made when it is missing; usable from several threads.

    Writing goes through one connection, one transaction at a time. Reading has a connection of its own, so that a
    long read never holds up the journal; in memory both are the same.

    Args:
        path: the file, or ":memory:"; missing folders are made.

    Raises:
        WrongVersion: the file has other tables than ours.
        sqlite3.OperationalError: the file cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        if self.path != IN_MEMORY:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        self._writing = threading.RLock()
        self._writer = self._connect()
        self._prepare()
        self._reading = self._writing if self.path == IN_MEMORY else threading.RLock()
        self._reader = self._writer if self.path == IN_MEMORY else self._connect()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Change several things or none; after the end it survives the death of the process."""
        with self._begin("NORMAL") as connection:
            yield connection

    @contextmanager
    def durable(self) -> Iterator[sqlite3.Connection]:
        """Change several things or none; after the end it survives a power failure too."""
        with self._begin("FULL") as connection:
            yield connection

    def read(self, statement: str, parameters: Parameters = ()) -> list[Row]:
        """Give the rows of one statement as they stood after the last finished transaction."""
        with self._reading:
            return self._reader.execute(statement, parameters).fetchall()

    def close(self) -> None:
        """Close the file; nothing of it is used afterwards. Closing again does nothing."""
        with self._writing, self._reading:
            if self._reader is not self._writer:
                self._reader.close()
            self._writer.close()

    @contextmanager
    def _begin(self, strength: Literal["NORMAL", "FULL"]) -> Iterator[sqlite3.Connection]:
        with self._writing:
            self._writer.execute(f"PRAGMA synchronous={strength}")
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        return connection

    def _prepare(self) -> None:
        """Make the tables in a new file, bring an older one up to date, and refuse a file of another kind."""
        with self.durable() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            if version == 0 and tables == 0:
                _make(connection, TABLES, version := VERSION)
            while version in UPGRADES:
                _make(connection, UPGRADES[version], version := version + 1)
            if version != VERSION:
                raise WrongVersion(f"{self.path}: tables of version {version}, this is {VERSION}")


def _make(connection: sqlite3.Connection, statements: str, version: int) -> None:
    """Make tables, and note which version the file has now; in the transaction of the caller."""
    for statement in statements.split(";\n"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={version}")
