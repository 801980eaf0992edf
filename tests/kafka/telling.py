"""What a run says, through whichever runtime, in a form that can be compared."""

from collections.abc import Iterable

from playbooks.load import load_causes, load_playbooks
from schemas.codec import encode
from streams.line import Line
from streams.runtimes.embedded import Embedded
from streams.stages.stage import Sent
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal
from streams.stores.snapshots import SqliteSnapshots
from streams.topology import topology
from tests.kafka.installation import Installation

COMPARED = ("detections", "incidents", "requests")
Bodies = list[tuple[str, bytes]]
"""Messages as (job, body)."""
Said = dict[tuple[str, str], list[bytes]]
"""By stream and key, in order."""


class Gathered:
    """An archive that keeps everything in the order in which it was said."""

    def __init__(self) -> None:
        self.said: list[Sent] = []

    def put(self, sent: list[Sent], upto: int) -> None:  # noqa: ARG002 - nothing is resumed
        """Keep it."""
        self.said += sent


def through_embedded(bodies: Bodies) -> Said:
    """What the embedded runtime says."""
    causes = load_causes()
    database, archive = Database(":memory:"), Gathered()
    journal = SqliteJournal(database)
    line = Line(topology(causes, load_playbooks(causes=causes)))
    runtime = Embedded(line, journal, SqliteSnapshots(database), archive)  # type: ignore[arg-type]  # only `put` is used
    for job, body in bodies:
        journal.append([(job, raw) for raw in body.split(b"\n")], 0.0)
    while runtime.work():
        pass
    database.close()
    return gathered((sent.topic, sent.key, encode(sent.record)) for sent in archive.said if sent.topic in COMPARED)


def on_kafka(installation: Installation) -> Said:
    """What stands on the broker."""
    return gathered((stream, key, value) for stream in COMPARED for key, value in installation.said(stream))


def gathered(said: Iterable[tuple[str, str, bytes]]) -> Said:
    """By stream and key, in order."""
    result: Said = {}
    for stream, key, value in said:
        result.setdefault((stream, key), []).append(value)
    return result


def without_repetitions(said: Said) -> Said:
    """Each record once: what is said again after a crash is said in the same bytes."""
    return {key: list(dict.fromkeys(values)) for key, values in said.items()}


def in_messages(lines: Bodies, size: int = 50) -> Bodies:
    """Records of a job in messages of up to `size`, in their order."""
    jobs: dict[str, list[bytes]] = {}
    for job, line in lines:
        jobs.setdefault(job, []).append(line)
    return [
        (job, b"\n".join(records[at : at + size]))
        for job, records in jobs.items()
        for at in range(0, len(records), size)
    ]
