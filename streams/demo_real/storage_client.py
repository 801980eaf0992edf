"""Reading parts of shards: from the object store with repetitions, or from the copy on this node; all is counted."""

import http.client
import threading
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from streams.clock import monotonic_seconds

TRIES = 5
FIRST_PAUSE_SECONDS = 0.02
TIMEOUT_SECONDS = 10.0


class ReadFailed(OSError):
    """A part could not be read in TRIES tries; `code` is the last status, 0 where there was no answer."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name}: not read in {TRIES} tries, last status {code}")
        self.code = code


class Stopped(Exception):
    """Reading was given up because the client is closed."""


class Usage(Struct):
    """What was read since the start, and since the last look.

    Attributes:
        retries: tries after the first, of all reads.
        errors: reads that failed for good.
        bytes_read: from the store or the copy.
        store_reads: reads from the store since the last look, with the seconds they took.
        cache_reads: reads from the copy since the last look.
    """

    retries: int = 0
    errors: int = 0
    bytes_read: int = 0
    store_reads: int = 0
    store_seconds: float = 0.0
    cache_reads: int = 0


class StorageClient:
    """Reads for one thread at a time.

    Args:
        url: the object store's address.
        cache: folder of the copies on this node.
    """

    def __init__(self, url: str, cache: Path) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            address.hostname or "127.0.0.1", address.port, timeout=TIMEOUT_SECONDS
        )
        self._cache = cache
        self._usage, self._looked = Usage(), monotonic_seconds()
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def close(self) -> None:
        """Begin no further try; from any thread."""
        self._closing.set()

    def disconnect(self) -> None:
        """Let go of the connection, when no read is going on."""
        self._connection.close()

    def read_cache(self, name: str, offset: int, size: int) -> bytes:
        """Read from the copy on this node.

        Raises:
            OSError: there is no such file.
        """
        with (self._cache / name).open("rb") as file:
            file.seek(offset)
            raw = file.read(size)
        with self._lock:
            self._usage.cache_reads += 1
            self._usage.bytes_read += len(raw)
        return raw

    def read_origin(self, name: str, offset: int, size: int) -> bytes:
        """Read a part from the object store, several times if it must be.

        Raises:
            ReadFailed: it did not work in TRIES tries.
            Stopped: the client was closed meanwhile.
        """
        return self._read(name, {"Range": f"bytes={offset}-{offset + size - 1}"})

    def read_whole(self, name: str) -> bytes:
        """Read a whole file from the object store; raises as `read_origin` does."""
        return self._read(name, {})

    def look(self) -> dict[str, float | None]:
        """Give readings for `schemas.signals`, over the time since the last look."""
        with self._lock:
            now, usage = monotonic_seconds(), self._usage
            elapsed = max(now - self._looked, 1e-9)
            reads = usage.store_reads + usage.cache_reads
            readings: dict[str, float | None] = {
                "storage_retries_total": usage.retries,
                "storage_errors_total": usage.errors,
                "storage_read_bytes_per_second": usage.bytes_read / elapsed,
                "storage_latency_seconds": usage.store_seconds / usage.store_reads if usage.store_reads else None,
                "cache_hit_ratio": usage.cache_reads / reads if reads else None,
            }
            self._usage, self._looked = Usage(retries=usage.retries, errors=usage.errors), now
        return readings

    def _read(self, name: str, headers: dict[str, str]) -> bytes:
        begin, status = monotonic_seconds(), 0
        for tries in range(TRIES):
            if tries and self._closing.wait(FIRST_PAUSE_SECONDS * 2 ** (tries - 1)):
                raise Stopped(name)
            status, raw = self._ask(name, headers)
            with self._lock:
                self._usage.retries += tries > 0
            if status in (200, 206):
                self._count_read(monotonic_seconds() - begin, len(raw))
                return raw
        with self._lock:
            self._usage.errors += 1
        raise ReadFailed(name, status)

    def _ask(self, name: str, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            self._connection.request("GET", f"/{name}", headers=headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()  # the next request opens it again
            return 0, b""

    def _count_read(self, seconds: float, size: int) -> None:
        with self._lock:
            self._usage.store_reads += 1
            self._usage.store_seconds += seconds
            self._usage.bytes_read += size
