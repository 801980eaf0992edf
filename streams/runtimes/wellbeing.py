"""Whether a worker is really well: what keeps it from being ready, and when it had better end and be started again."""

import asyncio
from collections.abc import Callable

import redis
from msgspec import Struct

from streams.clock import monotonic_seconds
from streams.kafka.outbox import Outbox
from streams.runtimes.saving import Saving
from streams.runtimes.worker import Worker

LOOK_SECONDS = 1.0
ANSWER_SECONDS = 2.0


class Patience(Struct, frozen=True):
    """How long something may last, in seconds.

    Attributes:
        unassigned: without partitions assigned, at the start or after a loss.
        still: without a message taken while some are waiting.
    """

    unassigned: float
    still: float


class Stuck(RuntimeError):
    """The worker does not get on by itself."""


class Wellbeing:
    """Looks after a worker.

    Args:
        worker: which one.
        outbox: its way to Kafka.
        saving: its memories' way to Redis.
        client: of Redis.
        behind: counts the messages that wait to be taken.
        patience: after which it is stuck.
    """

    def __init__(
        self,
        worker: Worker,
        outbox: Outbox,
        saving: Saving,
        client: redis.Redis,
        behind: Callable[[], int],
        patience: Patience,
    ) -> None:
        self._worker, self._outbox, self._saving, self._client = worker, outbox, saving, client
        self._behind, self._patience = behind, patience
        self._answers = {"Kafka": False, "Redis": False}
        self._began = self._unassigned_since = monotonic_seconds()

    def faults(self) -> list[str]:
        """Say what keeps the worker from being ready; nothing means it is."""
        faults = [f"{name} does not answer" for name, well in self._answers.items() if not well]
        if self._worker.assigned is None:
            faults.append("no partitions are assigned")
        if self._worker.restoring:
            faults.append(f"partition {min(self._worker.restoring)} is being restored")
        if self._saving.fault:
            faults.append(f"memories cannot be saved: {self._saving.fault}")
        if self._is_still():
            faults.append(f"{self._behind()} messages wait and none is taken")
        return faults

    async def watch(self) -> None:
        """Look every second, for ever.

        Raises:
            Stuck: it has lasted too long.
        """
        while True:
            kafka, stored = await asyncio.gather(self._outbox.answers(ANSWER_SECONDS), self._redis_answers())
            self._answers = {"Kafka": kafka, "Redis": stored}
            self._judge()
            await asyncio.sleep(LOOK_SECONDS)

    def _judge(self) -> None:
        now = monotonic_seconds()
        if self._worker.assigned is not None or not self._answers["Kafka"]:
            self._unassigned_since = now
        if now - self._unassigned_since > self._patience.unassigned:
            raise Stuck(f"no partitions were assigned for {self._patience.unassigned:.0f} s")
        if self._is_still() and self._answers["Kafka"]:
            raise Stuck(f"messages wait and none was taken for {self._patience.still:.0f} s")

    def _is_still(self) -> bool:
        still = monotonic_seconds() - self._worker.moved
        return still > self._patience.still and not self._worker.restoring and self._behind() > 0

    async def _redis_answers(self) -> bool:
        try:
            await asyncio.wait_for(asyncio.to_thread(self._client.ping), ANSWER_SECONDS)
        except (redis.RedisError, OSError, TimeoutError):
            return False
        return True
