"""Where the memories of partitions survive: written beside the work, at most one writing per partition at a time."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from streams.clock import monotonic_seconds
from streams.stores.store import Snapshot, Snapshots, StoreAway

_log = logging.getLogger(__name__)


class Saving:
    """Loads and saves snapshots on threads, so that a slow store stops nothing.

    A save that fails is left out: the next one holds all that has changed since the last that succeeded.

    Args:
        home: gives the snapshots of a partition.
    """

    def __init__(self, home: Callable[[int], Snapshots]) -> None:
        self._home = home
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._unsaved: dict[int, dict[str, Snapshot]] = {}
        self.saved_at = monotonic_seconds()
        self.fault = ""

    async def load(self, partition: int) -> list[Snapshot]:
        """Give everything that was saved of a partition; nothing of ours is being written meanwhile.

        Raises:
            StoreAway: the store does not answer. That is not the same as having nothing.
        """
        task = self._tasks.get(partition)
        if task is not None:
            await task
        self._unsaved.pop(partition, None)
        return await asyncio.to_thread(self._load, partition)

    def is_free(self, partition: int) -> bool:
        """Tell whether the last save of a partition has ended."""
        task = self._tasks.get(partition)
        return task is None or task.done()

    def save(self, partition: int, snapshots: Sequence[Snapshot]) -> None:
        """Begin to save."""
        waiting = self._unsaved.setdefault(partition, {})
        waiting.update({one.key: one for one in snapshots})
        self._tasks[partition] = asyncio.create_task(self._save(partition, list(waiting.values())))

    async def end(self) -> None:
        """Wait for what was begun."""
        await asyncio.gather(*self._tasks.values())

    async def _save(self, partition: int, snapshots: list[Snapshot]) -> None:
        try:
            await asyncio.to_thread(self._home(partition).save, snapshots)
        except StoreAway as fault:
            if not self.fault:
                _log.warning("memories of partition %d could not be saved: %s", partition, fault)
            self.fault = str(fault)
            return
        self.fault, self.saved_at = "", monotonic_seconds()
        waiting = self._unsaved.get(partition, {})
        for one in snapshots:
            if waiting.get(one.key) is one:
                del waiting[one.key]

    def _load(self, partition: int) -> list[Snapshot]:
        home = self._home(partition)
        stored = [home.load(key) for key in home.keys()]  # noqa: SIM118 - no dict
        return [one for one in stored if one is not None]
