"""Who may act, once, and whether anybody may, in SQLite."""

from streams.stores.database import Database
from streams.stores.store import Lease


class SqliteLeases:
    """Leases, finished work and the kill switch of one installation; every answer survives a power failure.

    A lease that ran out stays good until somebody else takes the target: nobody was let in meanwhile.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def acquire(self, target: str, holder: str, now: float, seconds: float) -> Lease | None:
        """Take a target unless somebody else holds it; the token grows with every taking."""
        with self._database.durable() as connection:
            rows = connection.execute(
                "INSERT INTO leases VALUES (?, ?, 1, ?) ON CONFLICT (target) DO UPDATE "
                "SET holder = excluded.holder, token = token + 1, expires = excluded.expires "
                "WHERE holder IN ('', excluded.holder) OR expires <= ? RETURNING token",
                (target, holder, now + seconds, now),
            ).fetchall()
        return Lease(target=target, holder=holder, token=int(rows[0][0])) if rows else None

    def release(self, lease: Lease) -> None:
        """Give a target back; without effect if the lease was lost. The token stays, so that it never repeats."""
        with self._database.durable() as connection:
            connection.execute(
                "UPDATE leases SET holder = '' WHERE target = ? AND holder = ? AND token = ?",
                (lease.target, lease.holder, lease.token),
            )

    def begin(self, key: str, lease: Lease) -> bool:
        """Note that work with this idempotency key starts; False when it is finished, or the lease is lost."""
        with self._database.durable() as connection:
            rows = connection.execute(
                "INSERT INTO work (key, target, token) SELECT ?, target, token FROM leases "
                "WHERE target = ? AND holder = ? AND token = ? ON CONFLICT (key) DO UPDATE "
                "SET target = excluded.target, token = excluded.token WHERE outcome IS NULL RETURNING key",
                (key, lease.target, lease.holder, lease.token),
            ).fetchall()
        return bool(rows)

    def finish(self, key: str, outcome: str) -> str:
        """Note that it is finished; give the outcome that stands, which is the first. `begin` then answers False."""
        with self._database.durable() as connection:
            (stands,) = connection.execute(
                "INSERT INTO work VALUES (?, '', 0, ?) ON CONFLICT (key) DO UPDATE "
                "SET outcome = coalesce(outcome, excluded.outcome) RETURNING outcome",
                (key, outcome),
            ).fetchone()
        return str(stands)

    def finish_under(self, key: str, outcome: str, lease: Lease) -> str | None:
        """Note likewise, but nothing if somebody else has taken the target since; None: no outcome stands yet."""
        with self._database.durable() as connection:
            connection.execute(
                "INSERT INTO work SELECT ?, target, token, ? FROM leases WHERE target = ? AND token = ? "
                "ON CONFLICT (key) DO UPDATE SET outcome = coalesce(outcome, excluded.outcome)",
                (key, outcome, lease.target, lease.token),
            )
        return self.finished(key)

    def finish_unbegun(self, key: str, outcome: str) -> str | None:
        """Note likewise, but nothing if the work has begun; None: no outcome stands yet."""
        with self._database.durable() as connection:
            connection.execute("INSERT INTO work VALUES (?, '', 0, ?) ON CONFLICT (key) DO NOTHING", (key, outcome))
        return self.finished(key)

    def finished(self, key: str) -> str | None:
        """Give the outcome noted for a key."""
        rows = self._database.read("SELECT outcome FROM work WHERE key = ?", (key,))
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def stop(self, by: str, now: float) -> None:
        """Turn the kill switch on: no action runs until `go`. Who turned it on first stays on record."""
        with self._database.durable() as connection:
            connection.execute("INSERT OR IGNORE INTO kill_switch VALUES (1, ?, ?)", (by, now))

    def go(self) -> None:
        """Turn the kill switch off."""
        with self._database.durable() as connection:
            connection.execute("DELETE FROM kill_switch")

    def stopped_by(self) -> str | None:
        """Give who turned the kill switch on; None when it is off."""
        rows = self._database.read("SELECT turned_on_by FROM kill_switch")
        return str(rows[0][0]) if rows else None
