"""A simulated job that feeds Kafka, as the agents of a real one do."""

import time
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from streams.clock import monotonic_seconds
from streams.kafka.log_producer import LogProducer, letters
from streams.kafka.message import Letter

AT_ONCE = 2_000


class _Head(Struct):
    job: str
    time: float


_head = msgspec.json.Decoder(_Head)


def feed(lines: Iterable[bytes], producer: LogProducer, per_message: int, speed: float) -> int:
    """Put lines of telemetry into the log in their order; give how many there were.

    Args:
        lines: JSON with its line end.
        producer: puts them there.
        per_message: records in one message.
        speed: seconds of the records per second; 0 for as fast as may be.
    """
    count = 0
    begin, first = monotonic_seconds(), 0.0
    for batch in _batches(lines, AT_ONCE if speed == 0 else per_message):
        heads = [_head.decode(line) for line in batch]
        if speed:
            first = first or heads[0].time
            time.sleep(max(0.0, begin + (heads[0].time - first) / speed - monotonic_seconds()))
        producer.deliver([one for group in _by_job(batch, heads, per_message) for one in group])
        count += len(batch)
    return count


def _batches(lines: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for line in lines:
        batch.append(line.rstrip(b"\n"))
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _by_job(batch: list[bytes], heads: list[_Head], per_message: int) -> Iterator[list[Letter]]:
    """Records of one job stay in their order; those of different jobs need none."""
    jobs: dict[str, list[bytes]] = {}
    for line, head in zip(batch, heads, strict=True):
        jobs.setdefault(head.job, []).append(line)
    for job, records in jobs.items():
        for at in range(0, len(records), per_message):
            yield list(letters(job, records[at : at + per_message]))
