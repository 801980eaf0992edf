"""What is held while the server is away: bounded, in order, and the least needed given up first."""

import errno
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.agents.outbox import Kind, Outbox, Parcel, by_key
from streams.agents.spool import Spool

KINDS: tuple[Kind, ...] = ("samples", "steps", "events")


def parcel(ticket: int, kind: Kind = "steps", size: int = 0) -> Parcel:
    """Make a record of that kind."""
    return Parcel(ticket, kind, "j", b'{"job":"j","attempt":1,"ticket":%d,"pad":"%s"}' % (ticket, b"x" * size))


def drain(spool: Spool) -> list[Parcel]:
    """Take everything out, oldest first."""
    parcels: list[Parcel] = []
    while stretch := spool.oldest():
        parcels += stretch.parcels
        spool.forget(stretch.number)
    return parcels


@settings(deadline=None, max_examples=60)
@given(
    batches=st.lists(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 300)), max_size=12), max_size=8),
    restart=st.booleans(),
)
def test_the_spool_gives_back_what_it_took_in_order(batches: list[list[tuple[Kind, int]]], restart: bool) -> None:
    """Records come out as they went in, in the order of their tickets, also in another life."""
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(Path(folder), 1 << 20, stretch_bytes=500)
        ticket, put = 0, []
        for batch in batches:
            parcels = []
            for kind, size in batch:
                ticket += 1
                parcels.append(parcel(ticket, kind, size))
            spool.append(parcels)
            put += parcels
        if restart:
            spool.close()
            spool = Spool(Path(folder), 1 << 20, stretch_bytes=500)
        assert drain(spool) == put
        assert spool.size_bytes == 0
        spool.close()


def test_what_comes_while_the_oldest_is_sent_is_kept_apart(tmp_path: Path) -> None:
    """A stretch that is on its way gets no more records, so that forgetting it forgets nothing else."""
    spool = Spool(tmp_path, 1 << 20)
    spool.append([parcel(1)])
    stretch = spool.oldest()
    assert stretch is not None
    spool.append([parcel(2)])
    spool.forget(stretch.number)
    assert [each.ticket for each in drain(spool)] == [2]
    spool.close()


def test_samples_go_before_steps_and_events_go_last(tmp_path: Path) -> None:
    """Over the limit the oldest samples are given up first, then steps, and events only when nothing else is left."""
    spool = Spool(tmp_path, limit_bytes=3000, stretch_bytes=600)
    spool.append([parcel(ticket, KINDS[ticket % 3], 200) for ticket in range(30)])
    lost = spool.give_up()
    assert spool.size_bytes <= 3000
    kinds = [each.kind for each in lost]
    assert kinds == sorted(kinds, key=KINDS.index)
    assert kinds.count("samples") == 10
    assert "events" not in kinds
    steps = [each.ticket for each in lost if each.kind == "steps"]
    left = [each.ticket for each in drain(spool) if each.kind == "steps"]
    assert steps
    assert max(steps) < min(left)
    spool.append([parcel(ticket, "events", 200) for ticket in range(100, 130)])
    assert {each.kind for each in spool.give_up()} == {"events"}
    spool.close()


def test_a_half_line_of_a_killed_agent_is_skipped(tmp_path: Path) -> None:
    """A record that was being written when the agent was killed is left out, and the others come."""
    spool = Spool(tmp_path, 1 << 20)
    spool.append([parcel(1), parcel(2)])
    spool.close()
    (file,) = tmp_path.glob("*.steps")
    os.truncate(file, file.stat().st_size - 5)
    spool = Spool(tmp_path, 1 << 20)
    assert [each.ticket for each in drain(spool)] == [1]
    spool.close()


def test_one_spool_serves_one_agent(tmp_path: Path) -> None:
    """A second agent is refused at its start, by the name of the folder."""
    spool = Spool(tmp_path, 1 << 20)
    with pytest.raises(BlockingIOError, match=str(tmp_path)):
        Spool(tmp_path, 1 << 20)
    spool.close()
    Spool(tmp_path, 1 << 20).close()


FULL_SPOOL = """
import resource, sys
from pathlib import Path
from streams.agents.outbox import Parcel
from streams.agents.spool import Spool
spool = Spool(Path(sys.argv[1]), 1 << 20)
line = b'{"job":"j","attempt":1,"pad":"%s"}' % (b"x" * 300)
spool.append([Parcel(1, "steps", "j", line)])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    spool.append([Parcel(ticket, "steps", "j", line) for ticket in range(2, 9)])
except OSError as fault:
    print(fault.errno, spool.size_bytes, [each.ticket for each in spool.oldest().parcels])
"""


def test_a_disk_that_takes_nothing_more_leaves_the_spool_whole(tmp_path: Path) -> None:
    """Half of a write is taken back, and what was there before is still there."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_SPOOL, str(tmp_path)], capture_output=True, text=True, check=True, timeout=30
    )
    size = next(tmp_path.glob("*.steps")).stat().st_size
    assert done.stdout.split() == [str(errno.EFBIG), str(size), "[1]"]
    assert size < resource.getpagesize()


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 200)), max_size=60))
def test_memory_is_bounded_and_what_is_kept_keeps_its_order(records: list[tuple[Kind, int]]) -> None:
    """An outbox that gives up shrinks below its limit; no sample outlives a lost step, no step a lost event."""
    outbox = Outbox(limit_bytes=2000)
    lost: list[Parcel] = []
    for kind, size in records:
        outbox.put(kind, "j", b"x" * size)
        if outbox.full:
            lost += outbox.give_up()
            gone = {each.kind for each in lost[-1:]}
            assert gone <= {"samples"} or not any(each.kind == "samples" for each in outbox.head(10_000))
        assert outbox.size_bytes <= 2000
    kept = [each.ticket for each in outbox.head(10_000)]
    assert kept == sorted(kept)
    assert sorted(kept + [each.ticket for each in lost]) == list(range(1, len(records) + 1))
    assert outbox.size_bytes == sum(len(each.line) for each in outbox.head(10_000))


def test_settled_is_the_number_below_which_nothing_is_left() -> None:
    """The watermark follows the oldest record that is still held."""
    outbox = Outbox(1000)
    assert outbox.settled == outbox.last_ticket == 0
    for _ in range(4):
        outbox.put("steps", "j", b"x")
    assert (outbox.settled, outbox.last_ticket) == (0, 4)
    outbox.settle(2)
    assert outbox.settled == 2
    outbox.settle(2)
    outbox.settle(9)
    assert outbox.settled == 4
    assert len(outbox) == 0


def test_a_request_takes_whole_records_and_at_least_one() -> None:
    """The head is bounded by its size, but a record larger than that goes alone."""
    outbox = Outbox(1000)
    for size in (50, 5, 5, 5):
        outbox.put("steps", "j", b"x" * size)
    assert [each.ticket for each in outbox.head(10)] == [1]
    outbox.settle(1)
    assert [each.ticket for each in outbox.head(10)] == [2, 3]


def test_records_are_sorted_by_job() -> None:
    """Each job's records keep their order."""
    parcels = [Parcel(1, "steps", "a", b""), Parcel(2, "steps", "b", b""), Parcel(3, "events", "a", b"")]
    assert {key: [each.ticket for each in part] for key, part in by_key(parcels).items()} == {"a": [1, 3], "b": [2]}
