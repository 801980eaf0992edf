"""A thread that reads batches ahead of the training, as every trainer's loader does."""

import queue
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import numpy as np
from msgspec import Struct

from streams.demo_real.dataset import Dataset, Rows, rows_from, shard_name
from streams.demo_real.storage_client import ReadFailed, Stopped, StorageClient


class Batch(Struct, frozen=True):
    """Rows to learn from.

    Attributes:
        epoch: how often all shards were read before.
        cursor: rows given out before these.
    """

    rows: Rows
    epoch: int
    cursor: int


class Loader:
    """Reads shards in a new order every epoch, and holds a few batches ready.

    Args:
        client: reads.
        batch_rows: rows of a batch; divides the rows of a shard.
        path: asked at each shard: `cache` reads the copy on this node, anything else the object store.
        on_failure: called when a read failed for good; it is then tried again.
        ahead: batches held ready.
        seed: the same seed gives the same order.
    """

    def __init__(
        self,
        client: StorageClient,
        dataset: Dataset,
        batch_rows: int,
        path: Callable[[], str],
        on_failure: Callable[[ReadFailed], None],
        ahead: int = 4,
        seed: int = 3,
    ) -> None:
        self._client, self._dataset, self._batch_rows = client, dataset, batch_rows
        self._path, self._on_failure, self._seed = path, on_failure, seed
        self._ready: queue.Queue[Batch | BaseException] = queue.Queue(ahead)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loader", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        self._closing.set()
        self._client.close()
        self._thread.join()
        self._client.disconnect()

    def __next__(self) -> Batch:
        """Give the next batch.

        Raises:
            OSError: the copy on this node lacks a shard.
        """
        batch = self._ready.get()
        if isinstance(batch, BaseException):
            raise batch
        return batch

    def __iter__(self) -> Self:
        return self

    def _run(self) -> None:
        try:
            for batch in self._batches():
                if not self._offer(batch):
                    return
        except Stopped:
            return
        except OSError as fault:
            self._offer(fault)

    def _offer(self, batch: Batch | BaseException) -> bool:
        while not self._closing.is_set():
            try:
                self._ready.put(batch, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def _batches(self) -> Iterator[Batch]:
        order = np.random.default_rng(self._seed)
        epoch = cursor = 0
        while True:
            for number in order.permutation(self._dataset.shards):
                for rows in self._shard(shard_name(int(number))):
                    yield Batch(rows, epoch, cursor)
                    cursor += len(rows)
            epoch += 1

    def _shard(self, name: str) -> Iterator[Rows]:
        read = self._client.read_cache if self._path() == "cache" else self._read_origin
        size = self._batch_rows * self._dataset.row_bytes
        for offset in range(0, self._dataset.rows * self._dataset.row_bytes, size):
            yield rows_from(read(name, offset, size), self._dataset)

    def _read_origin(self, name: str, offset: int, size: int) -> bytes:
        while True:
            try:
                return self._client.read_origin(name, offset, size)
            except ReadFailed as failed:
                self._on_failure(failed)
                if self._closing.is_set():
                    raise Stopped(name) from None
