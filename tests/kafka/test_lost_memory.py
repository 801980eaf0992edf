"""A worker that has to go on without its memory and without the messages behind it says so, and guesses nothing."""

import contextlib
from datetime import UTC, datetime

import msgspec
import pytest
import redis
from kafka import KafkaAdminClient, TopicPartition

from schemas.codec import from_wire
from schemas.incident import Incident
from streams.agents.simulated import simulate
from streams.stores.redis_client import as_bytes
from tests.kafka.conftest import NewInstallation
from tests.kafka.installation import Installation, Process, jobs_of_all_partitions
from tests.kafka.telling import Bodies
from tests.waiting import until

pytestmark = pytest.mark.service
PER_MESSAGE = 20
KEPT = 5
"""Messages before the worker goes on that are still there."""
LATER = 3
"""Messages of each job that come when the worker has told what it lost: a finding is held until time has passed."""
PLACED = 4
"""Messages in which the jobs ask where they belong and tell their cluster where they run; its key is in the second."""


def test_what_could_not_be_seen_is_told_and_nothing_is_guessed(
    new_installation: NewInstallation, redis_url: str
) -> None:
    """One memory is missing, another older than the log: each job hears how much was not seen, since when, and why."""
    installation, (forgotten, behind) = new_installation(2), jobs_of_all_partitions(2)
    first, second = halves(forgotten)
    seen, unseen = halves(behind)
    worker = work(installation, first + seen)
    ends = [len(first), len(seen) + PLACED]
    until(lambda: [mark(installation, redis_url, one)[0] + 1 for one in (0, 1)] == ends, 30.0, "nothing was saved")
    worker.stop()
    since = mark(installation, redis_url, 1)[1]
    forget(installation, redis_url)
    installation.send(unseen[:-KEPT])
    shorten(installation, len(first) - KEPT, ends[1] + len(unseen) - KEPT)
    work(installation, second[:-LATER] + unseen[-KEPT:-LATER])
    installation.send(second[-LATER:] + unseen[-LATER:])
    installation.until_done()

    told = incidents(installation)
    assert {job: {one.cause for one in each} for job, each in told.items()} == {
        forgotten: {"history_lost"},
        behind: {"history_lost"},
    }
    for each in told.values():
        assert len({one.id for one in each}) == 1
        assert (each[0].severity, each[0].layer, each[0].ranks, each[0].nodes) == ("warning", "monitoring", (), ())
    (words,) = told[forgotten][0].blind
    assert words.startswith(f"{len(first) - KEPT} messages of the log could not be seen, before ")
    assert words.endswith("since when is not known: no memory of it was saved, and the log no longer holds it")
    (words,) = told[behind][0].blind
    assert words.startswith(f"{len(unseen) - KEPT} messages of the log could not be seen, between {since} and ")
    assert words.endswith("what was saved of it is too old, and the log no longer holds it")


def halves(job: str) -> tuple[Bodies, Bodies]:
    """A job that nothing is wrong with, in messages, cut in the middle."""
    lines = [line.strip() for line in simulate("quiet", 5, defects=True)]
    lines = [line.replace(b'"job":"sim-16"', f'"job":"{job}"'.encode()) for line in lines]
    bodies = [(job, b"\n".join(lines[at : at + PER_MESSAGE])) for at in range(0, len(lines), PER_MESSAGE)]
    return bodies[: len(bodies) // 2], bodies[len(bodies) // 2 :]


def work(installation: Installation, bodies: Bodies) -> Process:
    """Let a worker of its own do all that is there and what is sent."""
    installation.send(bodies)
    worker = installation.start("worker")
    installation.until_done()
    # What the worker reports comes on the log behind the messages that led to it.
    installation.until_done()
    return worker


def mark(installation: Installation, redis_url: str, partition: int) -> tuple[int, str]:
    """Up to which message the memories of a partition have been saved, and when it came in."""
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        for key in client.scan_iter(match=f"*{installation.name}:*:{partition}}}:snapshot:"):
            offset, data = client.hmget(key, "offset", "data")
            time = datetime.fromtimestamp(msgspec.msgpack.decode(as_bytes(data or b""), type=float), UTC)
            return int(offset or 0), time.strftime("%Y-%m-%d %H:%M:%S UTC")
    return -1, ""


def forget(installation: Installation, redis_url: str) -> None:
    """Take away everything that was saved of partition 0."""
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        keys = list(client.scan_iter(match=f"*{installation.name}:*:0}}:*"))
        assert len(keys) == 3
        client.delete(*keys)


def shorten(installation: Installation, *firsts: int) -> None:
    """Do what the retention does: let each partition begin at an offset."""
    admin = KafkaAdminClient(bootstrap_servers=installation.bootstrap)
    topic = f"{installation.name}.telemetry"
    admin.delete_records({TopicPartition(topic, number): first for number, first in enumerate(firsts)})
    admin.close()


def incidents(installation: Installation) -> dict[str, list[Incident]]:
    """Every revision on the feed, by job."""
    told: dict[str, list[Incident]] = {}
    for _, value in installation.said("incidents"):
        incident = from_wire(value, Incident)
        told.setdefault(incident.job, []).append(incident)
    return told
