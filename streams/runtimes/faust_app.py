"""The worker on Faust: the only file that knows it.

Faust gives group membership, fetching and commits. What it does to a message it reads is ours: raw bytes in, strict
order, acknowledged only after the output is confirmed, and an end of the process instead of a skipped message.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

import faust
import uvloop
from faust.types import TP, EventT
from yarl import URL

from streams.kafka.connection import bootstrap, ssl_context
from streams.kafka.message import Message
from streams.runtimes.loop_guard import end_in
from streams.runtimes.worker import Worker
from streams.settings import KafkaSettings

_log = logging.getLogger(__name__)
FETCH_BYTES = 4 << 20
ENDING_SECONDS = 5.0
"""How long a worker that fails may take to leave its group; Faust can take a minute where the broker is silent."""
Side = Callable[[], Coroutine[None, None, object]]
Told = Any  # what Faust's signals and streams pass; their interface types leave out what we need


class FaustApp:
    """A Faust app around a worker.

    Args:
        settings: of Kafka.
        topic: name of the topic telemetry on the broker.
        worker: does the work.
        begin: run before the first message.
        sides: what runs beside the work; the end of one is the end of the process.
        end: run last.
        folder: where Faust may put files; it has none to put.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        topic: str,
        worker: Worker,
        *,
        begin: Side,
        sides: list[Side],
        end: Side,
        folder: str,
    ) -> None:
        self._worker, self._topic = worker, topic
        self._begin, self._sides, self._end = begin, sides, end
        self._begun = asyncio.Event()
        self.app = _app(settings, folder)
        source = self.app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
        self.app.agent(source, name="telemetry", concurrency=1)(self._take_all)
        self.app.task(self._run_sides)
        self.app.on_partitions_assigned.connect(self._assigned)
        self.app.on_partitions_revoked.connect(self._revoked)

    def run(self) -> NoReturn:
        """Work until a signal comes or something fails; the exit status tells which."""
        worker = faust.Worker(
            self.app, override_logging=False, redirect_stdouts=False, quiet=True, loglevel="WARN", debug=False
        )
        worker.spinner = None
        worker.execute_from_commandline()

    def behind(self) -> int:
        """Count the messages of our partitions that wait to be taken, as far as it is known."""
        total = 0
        for number, offset in self._worker.offsets().items():
            with contextlib.suppress(Exception):
                end = self.app.consumer.highwater(TP(self._topic, number))
                total += max(0, int(end or 0) - offset - 1)
        return total

    async def _take_all(self, stream: Told) -> None:
        await self._begun.wait()
        async for event in stream.noack().events():
            try:
                await self._worker.take(_message(event), event.ack)
            except Exception as fault:  # noqa: BLE001 - an exception in here would acknowledge the message
                await self._fail(fault)

    async def _run_sides(self) -> None:
        try:
            await self._begin()
            self._begun.set()
            async with asyncio.TaskGroup() as group:
                for side in self._sides:
                    group.create_task(side())
        except asyncio.CancelledError:
            await self._end()
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, going on would lose something
            await self._fail(fault)

    async def _fail(self, fault: Exception) -> None:
        """End the process, and never come back to the message at hand."""
        _log.critical("the worker ends: %s: %s", type(fault).__name__, fault)
        end_in(ENDING_SECONDS)
        await self.app.crash(fault)
        await asyncio.Event().wait()

    async def _assigned(self, _: Told, /, *told: Told, **__: Told) -> None:
        """The first thing told is the set of partitions."""
        self._worker.assign({one.partition for one in told[0]})

    async def _revoked(self, _: Told, /, *__: Told, **___: Told) -> None:
        """All of them go, always."""
        self._worker.revoke()


def _message(event: EventT[bytes]) -> Message:
    raw = event.message
    key = raw.key if isinstance(raw.key, bytes) else b""
    return Message(raw.partition, raw.offset, raw.timestamp or 0.0, key.decode("utf-8", "replace"), raw.value or b"")


def _app(settings: KafkaSettings, folder: str) -> faust.App:
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    longest = max(30.0, settings.session)
    return faust.App(
        settings.group,
        broker=[URL(f"kafka://{address}") for address in bootstrap(settings)],
        broker_credentials=_credentials(settings),
        store="memory://",
        datadir=folder,
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        stream_wait_empty=True,
        broker_session_timeout=settings.session,
        broker_heartbeat_interval=settings.session / 5.0,
        broker_rebalance_timeout=longest,
        broker_request_timeout=longest,
        broker_max_poll_interval=300.0,
        broker_commit_interval=1.0,
        consumer_max_fetch_size=FETCH_BYTES,
        consumer_auto_offset_reset="earliest",
        producer_request_timeout=settings.deliver,
        table_standby_replicas=0,
        stream_buffer_maxsize=4096,
    )


def _credentials(settings: KafkaSettings) -> faust.types.auth.CredentialsT | None:
    context = ssl_context(settings)
    if settings.security.startswith("SASL"):
        return faust.SASLCredentials(
            username=settings.username,
            password=settings.password.get_secret_value(),
            ssl_context=context,
            mechanism=settings.mechanism,
        )
    return faust.SSLCredentials(context) if context is not None else None
