"""The way to a training process where several runners act: the control document in Redis, published on its topic."""

from collections.abc import Callable

from schemas.action import Control
from streams.ports.control_document import Wishes, with_settings, without
from streams.stages.stage import Sent
from streams.stores.redis_controls import RedisControls
from streams.stores.store import Archive, Lease


class RedisTrainer:
    """Changes under a lease; what was changed is published, also where nothing had to be changed any more.

    Args:
        controls: the documents.
        archive: where they are published, and what stands there where Redis has lost them.
        lease: under which this trainer is spoken to.
    """

    def __init__(self, controls: RedisControls, archive: Archive, lease: Lease) -> None:
        self._controls, self._archive, self._lease = controls, archive, lease

    async def set(self, job: str, attempt: int, settings: Wishes, request: str) -> Control:
        """Change some settings; the others stay. Setting the same again changes nothing.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
            FencedOff: the lease is lost.
            StoreAway: Redis or Kafka does not answer; the same again is harmless.
        """
        published = self._archive.control(job)
        return self._publish(job, lambda present: with_settings(present or published, job, attempt, settings, request))

    async def clear(self, job: str, attempt: int, names: tuple[str, ...]) -> Control:
        """Give settings back to the trainer's own way; raises as `set`."""
        published = self._archive.control(job)
        return self._publish(job, lambda present: without(present or published, job, attempt, names))

    def _publish(self, job: str, make: Callable[[Control | None], Control]) -> Control:
        """Change, and publish what stands then: the last word on the topic is the newest document.

        Two runners that changed the document one after the other may publish it the other way round. So each looks
        again after its own word and says what is newer; whoever speaks last has seen the newest.
        """
        changed = control = self._controls.change(job, self._lease, make)
        told = 0
        while control.version > told:
            self._archive.put([Sent("control", job, control)], upto=0)
            told = control.version
            control = self._controls.read(job) or control
        return changed
