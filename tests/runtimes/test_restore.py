"""A partition made anew: exactly as it was where that can be known, and an honest word where it cannot."""

import asyncio
import itertools
from collections.abc import Callable

import msgspec
import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode, encode
from schemas.telemetry import Event, Reading, StepFrame, Tick
from streams.agents.simulated import simulate
from streams.kafka.message import Message
from streams.line import Line
from streams.runtimes.memories import EVERYBODY, MARK, NOTHING, Memories
from streams.runtimes.partition import Partition, Taken
from streams.runtimes.restore import Restore
from streams.stages.stage import Sent
from streams.stores.store import Snapshot
from streams.topology import topology
from tests.runtimes.kept_log import BEGIN, KeptLog

LINE = Line(topology(load_causes(), load_playbooks(causes=load_causes())))
MOST = 1_000
PER_MESSAGE = 5
TICK_EVERY = 5
Stored = dict[str, Snapshot]


def restored(log: KeptLog, first: Message, stored: Stored, most: int = MOST) -> Partition:
    """Make the only partition of a topic anew."""
    return asyncio.run(Restore(LINE, 1, log, most).partition(first, list(stored.values())))


def worked(partition: Partition, messages: list[Message]) -> list[Taken]:
    """Take messages."""
    return [partition.take(message) for message in messages]


def saved(partition: Partition, stored: Stored | None = None) -> Stored:
    """Keep what has changed beside what was kept before."""
    return {**(stored or {}), **{one.key: one for one in partition.snapshots()}}


def said(taken: list[Taken]) -> list[tuple[str, str, bytes]]:
    """Everything for other topics, as bytes."""
    return [(sent.topic, sent.key, encode(sent.record)) for one in taken for sent in one.said]


def reports(taken: list[Taken]) -> dict[str, Event]:
    """The reports of lost history by job."""
    found: dict[str, Event] = {}
    for telling in itertools.chain.from_iterable(one.telemetry for one in taken):
        event = decode(telling.raw)
        assert isinstance(event, Event)
        assert (event.event, event.node, event.job) == ("history.lost", "worker", telling.job)
        assert telling.job not in found
        found[telling.job] = event
    return found


def frame(job: str, step: int) -> bytes:
    """A step of a job of one rank."""
    values: dict[str, list[Reading]] = {"step_seconds": [2.0]}
    return encode(
        StepFrame(job=job, attempt=1, node="n1", seq=step, time=BEGIN + step, step=step, ranks=[0], values=values)
    )


def steps(log: KeptLog, count: int, jobs: tuple[str, ...] = ("a", "b")) -> None:
    """Send the next steps of some jobs, a message each."""
    for _ in range(count):
        for job in jobs:
            log.send(job, frame(job, len(log.messages)))


@pytest.fixture(scope="module")
def story() -> list[tuple[str, bytes]]:
    """A failing GPU in two jobs, message by message, with ticks between them."""
    lines = [line.strip() for line in simulate("xid", 5, defects=True)][770:]
    bodies: list[tuple[str, bytes]] = []
    for number, at in enumerate(range(0, len(lines), PER_MESSAGE)):
        body = b"\n".join(lines[at : at + PER_MESSAGE])
        bodies += [(job, body.replace(b'"job":"sim-16"', b'"job":"%s"' % job.encode())) for job in ("a", "b")]
        if number % TICK_EVERY == 0:
            time = max(record.time for record in map(decode, filter(_readable, lines[at : at + PER_MESSAGE])))
            bodies.append((EVERYBODY, encode(Tick(time=time, every=5.0))))
    return bodies


def _readable(line: bytes) -> bool:
    return line.startswith(b"{") and line.endswith(b"}")


@pytest.mark.parametrize(("at", "killed"), [(0, 9), (20, 21), (25, 50), (33, 33), (40, 60)])
def test_a_partition_made_anew_goes_on_as_if_nothing_had_been(
    story: list[tuple[str, bytes]], at: int, killed: int
) -> None:
    """With a snapshot and the messages since, everything that is said afterwards, and every memory, is the same."""
    log = KeptLog()
    messages = [log.send(key, body) for key, body in story]
    whole = restored(log, messages[0], {})
    before = worked(whole, messages[:at])
    stored = saved(whole) if at else {}
    before += worked(whole, messages[at:killed])
    another = restored(log, messages[killed], stored)
    assert log.asked == ([(at, killed)] if at < killed else [])
    assert another.is_whole
    there, here = worked(another, messages[killed:]), worked(whole, messages[killed:])
    assert said(there) == said(here)
    assert "incidents" in {topic for topic, _, _ in said(before + here)}
    assert saved(another) == saved(whole)
    assert reports(there) == {}


def test_a_missing_snapshot_costs_nothing_where_the_log_is_whole() -> None:
    """Without any memory the log is read again from its first message, and nobody is told of a loss."""
    log = KeptLog()
    steps(log, 10)
    partition = restored(log, log.messages[12], {})
    assert log.asked == [(0, 12)]
    assert partition.jobs() == ["a", "b"]
    assert reports(worked(partition, log.messages[12:])) == {}


def test_nothing_came_before_the_first_message() -> None:
    """A partition whose first message this is has no past that anybody could miss."""
    log = KeptLog()
    steps(log, 2)
    partition = restored(log, log.messages[0], {})
    assert (log.asked, partition.is_whole, partition.offset) == ([], True, NOTHING)


def test_a_missing_snapshot_and_a_shortened_log_are_told() -> None:
    """Jobs in the middle have an unseen past of unknown beginning; one that starts now has none."""
    log = KeptLog()
    steps(log, 10)
    start = Event(job="c", attempt=1, node="launcher", seq=0, time=BEGIN, event="attempt.started")
    log.send("c", encode(start))
    steps(log, 2, jobs=("a", "b", "c"))
    log.first = 14
    partition = restored(log, log.messages[17], {})
    assert log.asked == [(14, 17)]
    told = reports(worked(partition, log.messages[17:]))
    assert set(told) == {"a", "b"}
    assert told["a"].data == {
        "until": log.messages[14].time,
        "messages": 14,
        "reason": "no memory of it was saved, and the log no longer holds it",
    }
    assert not partition.is_whole


def test_a_snapshot_older_than_the_log_is_told_with_the_time_of_its_last_message() -> None:
    """What was saved is used, the hole behind it is told, and since when."""
    log = KeptLog()
    steps(log, 5)
    whole = restored(log, log.messages[0], {})
    worked(whole, log.messages)
    stored = saved(whole)
    steps(log, 10)
    log.first = 16
    partition = restored(log, log.messages[20], stored)
    assert log.asked == [(16, 20)]
    told = reports(worked(partition, log.messages[20:]))
    assert set(told) == {"a", "b"}
    assert told["b"].data == {
        "since": log.messages[9].time,
        "until": log.messages[17].time,
        "messages": 6,
        "reason": "what was saved of it is too old, and the log no longer holds it",
    }


def test_a_job_that_was_remembered_has_a_hole_even_where_it_starts_anew() -> None:
    """A new attempt behind the hole may have ended one that nobody saw: that is told too."""
    log = KeptLog()
    steps(log, 3, jobs=("a",))
    whole = restored(log, log.messages[0], {})
    worked(whole, log.messages)
    stored = saved(whole)
    steps(log, 3, jobs=("a",))
    log.first = len(log.messages)
    start = Event(job="a", attempt=2, node="launcher", seq=0, time=BEGIN + 9, event="attempt.started")
    first = log.send("a", encode(start))
    partition = restored(log, first, stored)
    assert reports([partition.take(first)])["a"].data["messages"] == 3


def test_no_more_is_read_again_than_allowed() -> None:
    """A log that reaches further back than may be read again is treated as one that does not."""
    log = KeptLog()
    steps(log, 20)
    partition = restored(log, log.messages[30], {}, most=10)
    assert log.asked == [(20, 30)]
    told = reports(worked(partition, log.messages[30:]))
    assert told["a"].data["messages"] == 20
    assert told["a"].data["reason"] == "no memory of it was saved, and more than 10 messages"


SPOILED: dict[str, Callable[[Snapshot], Snapshot]] = {
    "damaged": lambda one: msgspec.structs.replace(one, data=one.data[: len(one.data) // 2]),
    "empty": lambda one: msgspec.structs.replace(one, data=b""),
    "of another version": lambda one: msgspec.structs.replace(one, data=msgspec.msgpack.encode([b"x"])),
    "of other stages": lambda one: msgspec.structs.replace(
        one, data=msgspec.msgpack.encode([msgspec.msgpack.encode({"no": 1})] * len(LINE.rows))
    ),
}


@pytest.mark.parametrize("case", SPOILED)
def test_an_unreadable_memory_is_learned_again_from_the_log(story: list[tuple[str, bytes]], case: str) -> None:
    """One job's memory cannot be read: it is made again from the whole log, the other's is kept, nothing is lost."""
    log = KeptLog()
    messages = [log.send(key, body) for key, body in story[:50]]
    whole = restored(log, messages[0], {})
    worked(whole, messages[:30])
    stored = saved(whole)
    stored["a"] = SPOILED[case](stored["a"])
    worked(whole, messages[30:40])
    partition = restored(log, messages[40], stored)
    assert log.asked == [(0, 40)]
    assert said(worked(partition, messages[40:])) == said(worked(whole, messages[40:]))
    assert saved(partition) == saved(whole)


@pytest.mark.parametrize("case", SPOILED)
def test_an_unreadable_memory_and_a_shortened_log_are_told_to_that_job_alone(case: str) -> None:
    """The job whose memory is gone hears that, and why; the other has lost nothing."""
    log = KeptLog()
    steps(log, 10)
    whole = restored(log, log.messages[0], {})
    worked(whole, log.messages[:16])
    stored = saved(whole)
    stored["a"] = SPOILED[case](stored["a"])
    log.first = 4
    partition = restored(log, log.messages[18], stored)
    assert log.asked == [(4, 18)]
    told = reports(worked(partition, log.messages[18:]))
    assert set(told) == {"a"}
    assert "since" not in told["a"].data
    assert told["a"].data["messages"] == 4
    assert str(told["a"].data["reason"]).startswith("its memory could not be read back (")


@pytest.mark.parametrize("data", [b"", b"\xc1", msgspec.msgpack.encode("noon")], ids=["empty", "damaged", "a word"])
def test_an_unreadable_mark_counts_as_none(data: bytes) -> None:
    """Nobody knows up to where all memories are true: everything is read again, and what each job knows is kept."""
    log = KeptLog()
    steps(log, 10)
    whole = restored(log, log.messages[0], {})
    worked(whole, log.messages[:16])
    stored = saved(whole)
    stored[MARK] = Snapshot(MARK, stored[MARK].offset, data)
    partition = restored(log, log.messages[16], stored)
    assert log.asked == [(0, 16)]
    assert said(worked(partition, log.messages[16:])) == said(worked(whole, log.messages[16:]))
    assert saved(partition) == saved(whole)


@pytest.mark.parametrize("left", [1, 8, 15], ids=["made anew", "cut", "cut to the mark"])
def test_a_log_shorter_than_its_snapshot_is_another_log(left: int) -> None:
    """What was saved of more messages than the log has was saved of another one: it is put aside, never mixed in."""
    log = KeptLog()
    steps(log, 10)
    whole = restored(log, log.messages[0], {})
    worked(whole, log.messages[:16])
    stored = saved(whole)
    assert stored[MARK].offset == 15
    del log.messages[left - 1 :]
    first = log.send("a", frame("a", 500))
    partition = restored(log, first, stored)
    assert log.asked == ([(0, left - 1)] if left > 1 else [])
    blank = restored(log, first, {})
    assert said([partition.take(first)]) == said([blank.take(first)])
    assert saved(partition) == saved(blank)


def test_memories_know_which_messages_they_hold() -> None:
    """A memory that is true further on than the message at hand is left alone, others are fed."""
    whole = Memories(LINE)
    records = [decode(frame(job, step)) for step in range(20) for job in ("a", "b")]
    for offset, record in enumerate(records[:36]):
        whole.feed(offset, record)
    stored = {one.key: one for one in whole.snapshots(35, BEGIN)}
    del stored["b"]
    again = Memories(LINE, stored.values())
    fed: list[Sent] = []
    for offset, record in enumerate(records[:36]):
        fed += again.feed(offset, record)
    assert {sent.key for sent in fed} == {"b"}
    assert [one.key for one in again.snapshots(35, BEGIN)] == ["b", MARK]


def test_a_hole_on_the_way_is_told_and_a_seam_is_not() -> None:
    """A worker that the retention overtook tells it; offsets that only transactions used up are no loss."""
    log = KeptLog()
    steps(log, 30)
    partition = restored(log, log.messages[0], {})
    worked(partition, log.messages[:10])
    restore = Restore(LINE, 1, log, MOST)
    asyncio.run(restore.look_at_gap(partition, log.messages[40]))
    assert partition.is_whole
    log.first = 40
    asyncio.run(restore.look_at_gap(partition, log.messages[40]))
    told = reports(worked(partition, log.messages[40:]))
    assert told["a"].data == {
        "since": log.messages[9].time,
        "until": log.messages[40].time,
        "messages": 30,
        "reason": "the worker was further behind than the log reaches",
    }
    assert set(told) == {"a", "b"}
