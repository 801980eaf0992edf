"""What comes of one message: records for the line, bad ones, strays, ticks, and what was lost before them."""

import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.codec import encode, encode_msgpack
from schemas.dead import DeadLetter
from schemas.telemetry import Event, Tick
from streams.dead_letter import RAW_KEPT
from streams.kafka.placing import partition_of
from streams.line import Line
from streams.runtimes.lost_history import Loss, LostHistory, of_a_stretch
from streams.runtimes.memories import EVERYBODY, MARK, Memories
from streams.runtimes.partition import Partition, Telling
from streams.topology import topology
from tests.runtimes.kept_log import BEGIN, KeptLog

PARTITIONS = 4
LOSS = Loss(begin=3, end=9, since=BEGIN - 60.0, reason="a test lost it")
LINE = Line(topology(load_causes(), load_playbooks(causes=load_causes())))


def job_in(number: int, other_than: str = "") -> str:
    """A job of a partition."""
    names = (f"job-{each}" for each in range(1000))
    return next(name for name in names if partition_of(name, PARTITIONS) == number and name != other_than)


def a_partition(number: int = 0, lost: LostHistory | None = None) -> Partition:
    """A partition that has seen nothing."""
    return Partition(LINE, number, PARTITIONS, Memories(LINE), lost)


def started(job: str, seq: int = 0) -> Event:
    """The first record of a job."""
    data = {"world_size": 1, "fingerprint": "f"}
    return Event(job=job, attempt=1, node="launcher", seq=seq, time=BEGIN + seq, event="attempt.started", data=data)


def said_in_log(job: str, seq: int) -> Event:
    """A record from the middle of a job."""
    return Event(job=job, attempt=1, node="n1", seq=seq, time=BEGIN + seq, event="log.line", text="x")


def test_a_record_reaches_the_memory_of_its_job() -> None:
    """A record of the right partition makes and changes the memory of its job, and the offset moves."""
    log, partition = KeptLog(), a_partition()
    job = job_in(0)
    message = log.send(job, encode(started(job)))
    taken = partition.take(message)
    assert (taken.records, taken.rejected, taken.telemetry) == (1, 0, [])
    assert partition.jobs() == [job]
    assert (partition.offset, partition.time) == (message.offset, message.time)
    assert [one.key for one in partition.snapshots()] == [job, MARK]
    assert [one.key for one in partition.snapshots()] == [MARK]


@pytest.mark.parametrize("right", range(1, PARTITIONS))
def test_a_stray_goes_back_to_the_log_under_its_own_key(right: int) -> None:
    """A record that was keyed to a wrong partition is sent on as it came, teaches nothing here, and arrives there."""
    log, partition = KeptLog(), a_partition()
    stray, raw = job_in(right), encode(started(job_in(right)))
    taken = partition.take(log.send("some other key", raw))
    assert taken.telemetry == [Telling(stray, raw)]
    assert (taken.said, partition.jobs()) == ([], [])
    there = a_partition(right)
    again = there.take(KeptLog(right).send(stray, taken.telemetry[0].raw))
    assert (again.telemetry, there.jobs()) == ([], [stray])


def test_strays_among_others_are_told_apart() -> None:
    """One message may hold records of several jobs: each goes its own way, in order."""
    mine, other = job_in(0), job_in(2)
    records = [started(mine), started(other), said_in_log(mine, 1), said_in_log(other, 1)]
    partition = a_partition()
    taken = partition.take(KeptLog().send(mine, b"\n".join(encode(one) for one in records)))
    assert taken.telemetry == [Telling(other, encode(records[1])), Telling(other, encode(records[3]))]
    assert (taken.records, taken.rejected, partition.jobs()) == (4, 0, [mine])


BAD = {
    "no JSON": (b"what is this", "malformed"),
    "cut off": (b'{"kind":"steps","job":"j"', "malformed"),
    "a field is missing": (b'{"kind":"event","job":"j","attempt":1,"node":"n","seq":0}', "schema"),
    "no such kind": (b'{"kind":"poem","job":"j"}', "kind"),
    "a newer version": (encode(started("j")).replace(b'"v":1', b'"v":9'), "version"),
    "too large": (encode(started("j")).replace(b'"f"', b'"' + b"f" * (1 << 20) + b'"'), "oversized"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_filed_with_its_position_and_its_neighbours_live(case: str) -> None:
    """What cannot be read goes to `dead` with the reason, the place it came from and its bytes."""
    raw, reason = BAD[case]
    log, partition, job = KeptLog(1), a_partition(1), job_in(1)
    log.send(job, encode(started(job)))
    lines = [encode(said_in_log(job, 1)), raw, encode(said_in_log(job, 2))]
    message = log.send(job, b"\n".join(lines))
    taken = partition.take(message)
    (sent,) = [one for one in taken.said if one.topic == "dead"]
    letter = sent.record
    assert isinstance(letter, DeadLetter)
    assert (sent.key, letter.reason, letter.source, letter.offset, letter.line) == (job, reason, "telemetry/1", 1, 1)
    assert letter.raw == raw[:RAW_KEPT]
    assert letter.time == message.time
    assert (taken.records, taken.rejected, partition.jobs()) == (3, 1, [job])


def test_a_bad_message_without_a_key_is_filed_all_the_same() -> None:
    """Where nobody knows whose record it was, the letter is keyed by the topic it came from."""
    taken = a_partition().take(KeptLog().send("", b"\x00\x01"))
    assert [(one.topic, one.key) for one in taken.said] == [("dead", "telemetry")]


@pytest.mark.parametrize("body", [b"", b"\n\n", b"\x90"], ids=["nothing", "blank lines", "an empty array"])
def test_an_empty_message_is_only_counted_past(body: bytes) -> None:
    """A message without records says nothing, and what comes next is taken."""
    partition = a_partition()
    taken = partition.take(KeptLog().send("j", body))
    assert (taken.said, taken.telemetry, taken.records) == ([], [], 0)
    assert partition.offset == 0


def test_records_in_messagepack_are_taken_too() -> None:
    """An array of MessagePack records is read like lines of JSON; a stray in it stays in its own spelling."""
    mine, other = job_in(0), job_in(3)
    pieces = [encode_msgpack(started(mine)), encode_msgpack(started(other))]
    partition = a_partition()
    taken = partition.take(KeptLog().send(mine, b"\x92" + b"".join(pieces)))
    assert (taken.records, taken.rejected, partition.jobs()) == (2, 0, [mine])
    assert taken.telemetry == [Telling(other, pieces[1])]


def test_a_tick_is_for_every_job_of_the_partition_and_for_no_other() -> None:
    """A tick makes no memory, belongs to no partition by its key, and reaches every job that has a memory."""
    log, partition = KeptLog(), a_partition()
    tick = encode(Tick(time=BEGIN + 5.0, every=5.0))
    first = partition.take(log.send(EVERYBODY, tick))
    assert (first.said, first.telemetry, partition.jobs()) == ([], [], [])
    jobs = [job_in(0), job_in(0, other_than=job_in(0))]
    for job in jobs:
        partition.take(log.send(job, encode(started(job))))
    partition.snapshots()
    second = partition.take(log.send(EVERYBODY, tick))
    assert (second.telemetry, second.records) == ([], 1)
    assert {one.key for one in partition.snapshots()} == {*jobs, MARK}


def test_what_was_lost_is_told_once_for_each_job_it_concerns() -> None:
    """The report goes to the log under the job's key, says what is missing since when, and is not repeated."""
    log, partition = KeptLog(), a_partition(lost=LostHistory(0, LOSS, of_a_stretch(set())))
    job = job_in(0)
    taken = partition.take(log.send(job, encode(said_in_log(job, 7))))
    (telling,) = taken.telemetry
    report = Event(
        job=job,
        attempt=1,
        node="worker",
        boot="partition-0",
        seq=3,
        time=BEGIN + 7,
        event="history.lost",
        data={"since": BEGIN - 60.0, "until": BEGIN, "messages": 6, "reason": "a test lost it"},
        text="6 messages of the log could not be seen, between 2025-02-19 21:19:00 UTC "
        "and 2025-02-19 21:20:00 UTC: a test lost it",
    )
    assert telling == Telling(job, encode(report))
    assert partition.take(log.send(job, encode(said_in_log(job, 8)))).telemetry == []
    assert partition.take(log.send(job, telling.raw)).telemetry == []
    assert not partition.is_whole


def test_whoever_begins_after_the_loss_has_lost_nothing() -> None:
    """A job whose start was seen is whole; one that was remembered has a hole even where it starts anew."""
    fresh, remembered = job_in(0), job_in(0, other_than=job_in(0))
    partition = a_partition(lost=LostHistory(0, LOSS, of_a_stretch({remembered})))
    log = KeptLog()
    assert partition.take(log.send(fresh, encode(started(fresh)))).telemetry == []
    (told,) = partition.take(log.send(remembered, encode(started(remembered)))).telemetry
    assert told.job == remembered


def test_a_stray_is_told_of_no_loss() -> None:
    """What this partition has lost is nothing to the jobs of others."""
    partition = a_partition(lost=LostHistory(0, LOSS, of_a_stretch(set())))
    other, raw = job_in(1), encode(said_in_log(job_in(1), 4))
    assert partition.take(KeptLog().send(other, raw)).telemetry == [Telling(other, raw)]


def test_what_is_known_again_says_nothing_but_of_its_loss() -> None:
    """A message that was taken before teaches alone; a loss noticed on the way is told with the next message."""
    log, job = KeptLog(), job_in(0)
    partition = a_partition(lost=LostHistory(0, LOSS, of_a_stretch(set())))
    partition.know(log.send(job, b"\n".join([b"bad", encode(said_in_log(job, 1))])))
    assert (partition.jobs(), partition.offset) == ([job], 0)
    taken = partition.take(log.send(job, encode(said_in_log(job, 2))))
    assert [(one.job, b"history.lost" in one.raw) for one in taken.telemetry] == [(job, True)]
    assert [one for one in taken.said if one.topic == "dead"] == []
