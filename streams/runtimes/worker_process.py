"""`trainmaster worker`: everything checked before a start, then Faust with the line in it until a signal comes."""

import gc
import logging
from typing import NoReturn

from prometheus_client import CollectorRegistry

from streams.install import build_line
from streams.kafka.connection import client_arguments, topic_name
from streams.kafka.log_history import LogHistory
from streams.kafka.outbox import Outbox
from streams.kafka.topic_admin import require_topics
from streams.runtimes.faust_app import FaustApp
from streams.runtimes.health_server import HealthServer
from streams.runtimes.loop_guard import LoopGuard
from streams.runtimes.restore import Restore
from streams.runtimes.saving import Saving
from streams.runtimes.wellbeing import Patience, Wellbeing
from streams.runtimes.worker import Worker
from streams.runtimes.worker_metrics import WorkerMetrics
from streams.settings import Settings
from streams.stores.redis_client import connect
from streams.stores.redis_snapshots import RedisSnapshots

STILL_SECONDS = 60.0
GARBAGE = 20_000
"""New objects after which the youngest are looked through; Python's own 700 fit small programs."""
_log = logging.getLogger(__name__)


class WorkerProcess:
    """One worker with everything around it.

    Args:
        settings: of the installation.

    Raises:
        BadSettings, BadPlaybook, NoKafka, NoRedis: it cannot work; nothing was started.
    """

    def __init__(self, settings: Settings) -> None:
        kafka = settings.kafka
        line = build_line(settings)
        settings.state.mkdir(parents=True, exist_ok=True)
        telemetry = require_topics(kafka)["telemetry"]
        client = connect(settings.redis)
        arguments = client_arguments(kafka)
        self._outbox = Outbox(arguments, lambda name: topic_name(kafka, name), kafka.deliver, "trainmaster-worker")
        prefix = f"{settings.redis.prefix}:{telemetry.id}"
        self._saving = Saving(lambda number: RedisSnapshots(client, f"{{{prefix}:{number}}}"))
        self._metrics = WorkerMetrics(CollectorRegistry())
        history = LogHistory(arguments, telemetry.name)
        self._worker = Worker(
            Restore(line, telemetry.found, history, kafka.reread),
            self._outbox,
            self._saving,
            of=telemetry.found,
            tick=settings.tick,
            snapshot=settings.snapshot,
            metrics=self._metrics,
        )
        guard = LoopGuard(STILL_SECONDS)
        patience = Patience(unassigned=3 * max(30.0, kafka.session), still=STILL_SECONDS)
        self._well = Wellbeing(self._worker, self._outbox, self._saving, client, self._behind, patience)
        self._health = HealthServer(settings.health, self._faults, self._metrics.registry)
        self._faust = FaustApp(
            kafka,
            telemetry.name,
            self._worker,
            begin=self._begin,
            sides=[
                guard.turn,
                self._well.watch,
                self._outbox.confirm,
                self._worker.keep_time,
                self._worker.keep_snapshots,
            ],
            end=self._end,
            folder=str(settings.state / "faust"),
        )

    def run(self) -> NoReturn:
        """Work until a signal comes or something fails; the exit status tells which."""
        self._faust.run()

    async def _begin(self) -> None:
        _collect_less_garbage()
        await self._outbox.start()
        _log.info("health: %s", await self._health.start())

    async def _end(self) -> None:
        await self._health.stop()
        await self._saving.end()
        await self._outbox.stop()

    def _behind(self) -> int:
        return self._faust.behind()

    def _faults(self) -> list[str]:
        faults = self._well.faults()
        self._metrics.ready.set(not faults)
        self._metrics.behind.set(self._behind())
        self._metrics.waiting.set(self._outbox.size)
        return faults


def _collect_less_garbage() -> None:
    """Memories of jobs are large and live long: looking through all of them for garbage time and again is in vain."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 100)
