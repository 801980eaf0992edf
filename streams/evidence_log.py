"""The stretch of the log that an incident was made of, read again: from this machine's journal, or from Kafka."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

from aiokafka.errors import KafkaError

from schemas.codec import BadRecord, decode_all
from schemas.origin import Origin
from schemas.telemetry import Inbound, Telemetry, Tick
from streams.kafka.connection import NoKafka, client_arguments, topic_name
from streams.kafka.log_history import LogHistory
from streams.settings import KafkaSettings
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal

PAGE = 5_000
JOURNAL = "journal"


def whole_journal(path: Path) -> Iterator[bytes]:
    """Give everything that the journal still holds.

    Raises:
        FileNotFoundError: there is none on this machine.
    """
    database = _journal(path)
    try:
        journal, offset = SqliteJournal(database), 0
        while entries := journal.read(offset, PAGE):
            yield from (entry.raw for entry in entries)
            offset = entries[-1].offset
    finally:
        database.close()


def journal_stretch(path: Path, key: str, origin: Origin) -> tuple[int, Iterator[Inbound]]:
    """Give the first offset of a stretch that can be read, and what the journal holds of a key from there on.

    Raises:
        FileNotFoundError: there is no journal on this machine.
    """
    database = _journal(path)
    entries = SqliteJournal(database).read(origin.first - 1, 1)
    begins = entries[0].offset if entries else origin.last + 1
    return begins, _of_key(key, _entries(database, origin))


def kafka_stretch(settings: KafkaSettings, key: str, origin: Origin) -> tuple[int, list[Inbound]]:
    """Give the same of a partition.

    Raises:
        NoKafka: the broker does not answer.
    """
    return asyncio.run(_kafka_stretch(settings, key, origin))


async def _kafka_stretch(settings: KafkaSettings, key: str, origin: Origin) -> tuple[int, list[Inbound]]:
    history = LogHistory(client_arguments(settings), topic_name(settings, origin.topic))
    try:
        bounds = await history.bounds(origin.partition)
        begins, end = max(bounds.first, origin.first), min(bounds.end, origin.last + 1)
        found: list[Inbound] = []
        if begins < end:
            async for message in history.read(origin.partition, begins, end):
                found += _of_key(key, decode_all(message.body))
    except KafkaError as fault:
        raise NoKafka(f"Kafka does not answer: {fault}") from None
    return begins, found


def _entries(database: Database, origin: Origin) -> Iterator[Inbound | BadRecord]:
    try:
        journal, offset = SqliteJournal(database), origin.first - 1
        while offset < origin.last and (entries := journal.read(offset, PAGE)):
            for entry in entries:
                if entry.offset <= origin.last:
                    yield from decode_all(entry.raw)
            offset = entries[-1].offset
    finally:
        database.close()


def _of_key(key: str, read: Iterable[Inbound | BadRecord]) -> Iterator[Inbound]:
    """What could not be read was none of the key's when it was taken, either."""
    for one in read:
        if isinstance(one, Tick) or (isinstance(one, Telemetry) and one.job == key):
            yield one


def _journal(path: Path) -> Database:
    if not path.is_file():
        raise FileNotFoundError(2, "no journal here; --telemetry names a file")
    return Database(path)
