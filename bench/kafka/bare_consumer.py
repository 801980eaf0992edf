"""A consumer that does nothing: what Faust and aiokafka cost by themselves. Run as a process of its own."""

import asyncio
import json
import os
import sys
import tempfile
import time
from typing import Any

import faust
import uvloop
from aiokafka import AIOKafkaConsumer, TopicPartition

FETCH_BYTES = 4 << 20


class Count:
    """Counts messages from the first to the last, in seconds and in seconds of CPU time."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.seen = wanted, 0
        self.begin = self.cpu = 0.0

    def add(self, number: int) -> bool:
        """Count so many more; True when it was the last."""
        if self.seen == 0:
            self.begin, self.cpu = time.perf_counter(), time.process_time()
        self.seen += number
        if self.seen < self.wanted:
            return False
        seconds, cpu = time.perf_counter() - self.begin, time.process_time() - self.cpu
        print(json.dumps({"seconds": seconds, "cpu": cpu}), flush=True)
        return True


def with_faust(bootstrap: str, topic: str, wanted: int, quick: bool) -> None:
    """An agent that acknowledges every message and does nothing else, with the settings of our worker."""
    if quick:
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    app = faust.App(
        f"bare-{topic}",
        broker=f"kafka://{bootstrap}",
        store="memory://",
        datadir=tempfile.mkdtemp(),
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        broker_session_timeout=15.0,
        broker_commit_interval=1.0,
        consumer_max_fetch_size=FETCH_BYTES,
        consumer_auto_offset_reset="earliest",
        table_standby_replicas=0,
    )
    source = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    count = Count(wanted)

    async def take(stream: Any) -> None:  # noqa: ANN401 - Faust's own type lacks `noack`
        async for event in stream.noack().events():
            event.ack()
            if count.add(1):
                os._exit(0)

    app.agent(source, concurrency=1)(take)
    faust.Worker(app, override_logging=False, redirect_stdouts=False, quiet=True).execute_from_commandline()


async def with_aiokafka(bootstrap: str, topic: str, partitions: int, wanted: int) -> None:
    """A loop over `getmany`."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, max_partition_fetch_bytes=FETCH_BYTES)
    await consumer.start()
    places = [TopicPartition(topic, number) for number in range(partitions)]
    consumer.assign(places)
    await consumer.seek_to_beginning(*places)
    count = Count(wanted)
    while True:
        got = await consumer.getmany(timeout_ms=500)
        if got and count.add(sum(len(records) for records in got.values())):
            break
    await consumer.stop()


if __name__ == "__main__":
    kind, address, name, number, messages = sys.argv[1:]
    if kind.startswith("faust"):
        with_faust(address, name, int(messages), quick=kind == "faust-uvloop")
    else:
        uvloop.install()
        asyncio.run(with_aiokafka(address, name, int(number), int(messages)))
