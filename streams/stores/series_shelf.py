"""Vitals of jobs over time, for people to look at: bounded in number, thinned without losing extremes."""

import math
import sqlite3

import numpy as np

from schemas.detection import Vitals
from schemas.telemetry import Reading
from streams.stores.database import Database, Row
from streams.stores.identity import moment
from streams.stores.store import Point
from streams.stores.thinning import Rows, choose

POINTS_KEPT = 200_000


class SeriesShelf:
    """The tables `vitals`, `signal_lists` and `vitals_kept`.

    Args:
        kept: points kept of each job and kind; the oldest go first.
    """

    def __init__(self, database: Database, kept: int = POINTS_KEPT) -> None:
        self._database = database
        self.kept = kept

    def add(self, connection: sqlite3.Connection, vitals: Vitals) -> None:
        """Keep the values of one moment; the same moment again changes nothing."""
        key = (vitals.job, vitals.of)
        signals = _signal_list(connection, "\n".join(vitals.values))
        readings = np.array([_stored(value) for value in vitals.values.values()], dtype=np.float64).tobytes()
        added = connection.execute(
            "INSERT OR IGNORE INTO vitals VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, vitals.attempt, moment(vitals), vitals.step, vitals.time, signals, readings),
        ).rowcount
        if added:
            rows = connection.execute(
                "INSERT INTO vitals_kept VALUES (?, ?, 1) ON CONFLICT (job, kind) DO UPDATE SET points = points + 1 "
                "RETURNING points",
                key,
            ).fetchall()
            self._forget(connection, key, int(rows[0][0]))

    def thinned(self, job: str, of: str, begin: float, end: float, points: int) -> list[Point]:
        """Give the points between two times, both included, thinned to at most `points`."""
        rows = self._database.read(
            "SELECT time, step, signals, readings FROM vitals WHERE job = ? AND kind = ? AND time BETWEEN ? AND ? "
            "ORDER BY time, rowid",
            (job, of, begin, end),
        )
        lists = self._database.read("SELECT id, names FROM signal_lists")
        names_of = {signals: names.split("\n") if names else [] for signals, names in lists}
        columns, table = _table(rows, names_of)
        lost = np.isinf(table)
        chosen = choose(np.where(lost, np.nan, table), lost, points)
        return [_point(rows[index], columns, table[index]) for index in chosen]

    def _forget(self, connection: sqlite3.Connection, key: tuple[str, str], points: int) -> None:
        """Drop the oldest, a slice at a time: one deletion for each addition would double the work."""
        slack = max(1, self.kept // 50)
        if points < self.kept + slack:
            return
        connection.execute(
            "DELETE FROM vitals WHERE rowid IN "
            "(SELECT rowid FROM vitals WHERE job = ? AND kind = ? ORDER BY time, rowid LIMIT ?)",
            (*key, points - self.kept),
        )
        connection.execute("UPDATE vitals_kept SET points = ? WHERE job = ? AND kind = ?", (self.kept, *key))


def _signal_list(connection: sqlite3.Connection, names: str) -> int:
    """Give the number of a list of names; a job repeats the same list at every step."""
    connection.execute("INSERT OR IGNORE INTO signal_lists (names) VALUES (?)", (names,))
    (number,) = connection.execute("SELECT id FROM signal_lists WHERE names = ?", (names,)).fetchone()
    return int(number)


def _stored(value: Reading) -> float:
    if value is None:
        return math.nan
    return value if math.isfinite(value) else math.inf


def _table(rows: list[Row], names_of: dict[int, list[str]]) -> tuple[list[str], Rows]:
    """Lay the readings out, shape (moments, signals), as they are stored; rows of the same list go in at once."""
    signals = np.array([row[2] for row in rows], dtype=np.int64)
    present = [int(number) for number in np.unique(signals)]
    columns = sorted({name for number in present for name in names_of[number]})
    table = np.full((len(rows), len(columns)), np.nan)
    for number in present:
        where = np.flatnonzero(signals == number)
        at = np.array([columns.index(name) for name in names_of[number]], dtype=np.int64)
        block = np.frombuffer(b"".join(rows[index][3] for index in where)).reshape(len(where), len(at))
        table[np.ix_(where, at)] = block
    return columns, table


def _point(row: Row, columns: list[str], readings: Rows) -> Point:
    there = {name: float(value) for name, value in zip(columns, readings, strict=True) if not math.isnan(value)}
    values = {name: value if math.isfinite(value) else None for name, value in there.items()}
    return Point(time=row[0], step=row[1], values=values)
