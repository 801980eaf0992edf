"""`trainmaster act`: runs requests from Kafka, side by side with others of its kind.

What may wait for a server runs on a loop of its own, so that this one can always say how it is.
"""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

from msgspec import structs
from prometheus_client import CollectorRegistry, Gauge

from playbooks.ports import Ports
from streams.acting.runner import Runner
from streams.acting.settings import ActSettings
from streams.kafka.copy import FRESH_SECONDS, Copy
from streams.kafka.mirror import Mirror
from streams.ports.aiohttp_http import AiohttpHttp
from streams.ports.real_ports import real_ports
from streams.ports.redis_trainer import RedisTrainer
from streams.runtimes.health_server import HealthServer
from streams.settings import Settings
from streams.stores.redis_controls import RedisControls
from streams.stores.store import Archive, Lease

_log = logging.getLogger(__name__)


class Shared:
    """The footing of a runner among others: trainers are spoken to under a lease, and old knowledge is no ground.

    Args:
        ports: the ways out.
        controls: documents of trainers.
        archive: what is known.
        mirror: keeps it fresh.
    """

    def __init__(self, ports: Ports, controls: RedisControls, archive: Archive, mirror: Mirror) -> None:
        self.ports = ports
        self._controls, self._archive, self._mirror = controls, archive, mirror

    def under(self, lease: Lease) -> Ports:
        """Give the ways out for one try."""
        return structs.replace(self.ports, trainer=RedisTrainer(self._controls, self._archive, lease))

    def unfit(self) -> str:
        """Say how old the knowledge is, where it is too old."""
        age = self._mirror.age()
        return f"what is known of the incidents is {age:.0f} s old" if age > FRESH_SECONDS else ""


class ActProcess:
    """One runner with everything around it.

    Args:
        settings: of the installation.

    Raises:
        BadSettings, BadPorts, NoKafka, NoRedis: it cannot work; nothing was started.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._copy = Copy(settings, "act")
        self._http = AiohttpHttp()
        ports = real_ports(
            self._copy.archive,
            self._http,
            documents=settings.state / "postmortems",
            sinks=settings.sinks,
            scheduler=settings.scheduler,
            page=settings.link,
        )
        controls = RedisControls(self._copy.client, settings.redis.prefix)
        self._runner = Runner(
            self._copy.archive,
            self._copy.leases,
            self._copy.intake,
            self._copy.numbers,
            Shared(ports, controls, self._copy.archive, self._copy.mirror),
            ActSettings(holder=self._copy.holder, lease_seconds=settings.lease, try_seconds=0.75 * settings.lease),
        )
        registry = CollectorRegistry()
        Gauge("trainmaster_serving", "requests at work", registry=registry).set_function(self._runner.serving)
        self._health = HealthServer(settings.health, self._faults, registry)
        self._stopping = asyncio.Event()
        self._ending = threading.Event()

    async def run(self, ready: Callable[[str], None] = lambda _: None) -> None:
        """Run requests until the process is told to end.

        Args:
            ready: called with the address of the health pages once they answer.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stopping.set)
        ready(await self._health.start())
        try:
            async with asyncio.TaskGroup() as group:
                mirror = group.create_task(self._copy.mirror.run())
                acting = group.create_task(self._act())
                await self._stopping.wait()
                mirror.cancel()
                acting.cancel()
        finally:
            await self._health.stop()
            self._copy.close()

    async def _act(self) -> None:
        await self._copy.mirror.whole.wait()
        _log.info("the topics are copied; requests are run")
        acting = asyncio.create_task(asyncio.to_thread(asyncio.run, self._run_requests()))
        try:
            await asyncio.shield(acting)
        finally:
            self._ending.set()
            with suppress(asyncio.CancelledError):
                await acting

    async def _run_requests(self) -> None:
        async with self._http, asyncio.TaskGroup() as group:
            running = group.create_task(self._runner.run())
            while not self._ending.is_set() and not running.done():
                await asyncio.sleep(0.1)
            running.cancel()

    def _faults(self) -> list[str]:
        return self._copy.faults()
