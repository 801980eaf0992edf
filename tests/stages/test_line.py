"""The line as a whole: restarts are invisible, repetitions change nothing, and order within the lateness no verdict."""

from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import encode
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.line import Line, LineMemory
from streams.stages.detect.job_memory import Counters, DetectMemory
from streams.stages.detect.stage import Detect
from streams.stages.stage import Sent
from streams.stores.pack import pack, unpack
from streams.topology import Row
from tests.stages.short_story import Sendable, line, lived, told

SEED = 3


@cache
def records() -> tuple[Sendable, ...]:
    """The short story with its defects."""
    return told(SEED, defects=True)


@cache
def said() -> list[bytes]:
    """What the line says to it."""
    return lived(records())


def restored(memory: LineMemory) -> LineMemory:
    """The memory as another process would have it from a snapshot."""
    return LineMemory(
        key=memory.key,
        stages=[unpack(pack(stage), row.stage.memory) for row, stage in zip(line().rows, memory.stages, strict=True)],
    )


def bytes_of(heard: list[Sent]) -> list[bytes]:
    """What is compared."""
    return [sent.topic.encode() + encode(sent.record) for sent in heard]


def test_the_story_has_something_to_tell() -> None:
    """The story leads to incidents, actions and more than one attempt; else the tests below would show nothing."""
    topics = {one.split(b"{", 1)[0] for one in said()}
    assert topics == {b"vitals", b"detections", b"events", b"drafts", b"incidents", b"requests", b"telemetry"}
    assert {record.attempt for record in records()} == {1, 2}
    incidents = b"".join(one for one in said() if one.startswith(b"incidents"))
    assert b"loader_starved_by_storage" in incidents
    assert b"slow_gpu" in incidents


def test_the_same_input_gives_the_same_bytes() -> None:
    """Nothing in the line depends on anything but its input."""
    assert lived(records()) == said()


@settings(max_examples=4, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=4))
def test_a_restart_from_a_snapshot_changes_no_byte(cuts: list[int]) -> None:
    """Wherever a worker dies, another one goes on from its snapshot as if nothing had happened."""
    places = {cut % len(records()) for cut in cuts}
    memory = line().blank("short")
    heard = []
    for place, record in enumerate(records()):
        if place in places:
            memory = restored(memory)
        heard += line().feed(memory, record)
    heard += line().flush(restored(memory))
    assert bytes_of(heard) == said()


@settings(max_examples=3, deadline=None)
@given(st.integers(1, 10_000), st.integers(0, 10_000))
def test_a_repeated_delivery_changes_nothing_but_its_counter(cut: int, begin: int) -> None:
    """Whatever was delivered before may come again, at once or later: it is counted, and that is all."""
    cut %= len(records())
    again = records()[begin % (cut + 1) : cut]
    memory = line().blank("short")
    heard = [sent for record in records()[:cut] for sent in line().feed(memory, record)]
    before = counters(memory).repeated
    assert [sent for record in again for sent in line().feed(memory, record)] == []
    assert counters(memory).repeated == before + len(again)
    heard += [sent for record in records()[cut:] for sent in line().feed(memory, record)]
    heard += line().flush(memory)
    assert bytes_of(heard) == said()


def counters(memory: LineMemory) -> Counters:
    """What the detect stage has counted."""
    detect = memory.stages[0]
    assert isinstance(detect, DetectMemory)
    return detect.counters


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1 << 32))
def test_order_within_the_lateness_changes_no_verdict(chance: int) -> None:
    """Frames and samples that overtake each other by up to five seconds lead to the same incidents."""
    clean = told(SEED, defects=False)
    assert verdicts(shaken(clean, chance)) == verdicts(clean)


def shaken(clean: tuple[Sendable, ...], chance: int) -> list[Sendable]:
    """The same records, each delayed by up to five seconds; the launcher's words come in time."""
    delays = np.random.default_rng(chance).uniform(0.0, 5.0, len(clean))
    arrivals = [
        record.time + (0.0 if isinstance(record, Event) else float(delay))
        for record, delay in zip(clean, delays, strict=True)
    ]
    return [clean[place] for place in np.argsort(arrivals, kind="stable")]


def verdicts(story: Iterable[Sendable]) -> list[tuple[object, ...]]:
    """Id, cause, culprits and onset of every incident, as last told."""
    memory = line().blank("short")
    heard = [sent for record in story for sent in line().feed(memory, record)] + line().flush(memory)
    last = {sent.key: sent.record for sent in heard if sent.topic == "incidents" and isinstance(sent.record, Incident)}
    return [(one.id, one.cause, one.ranks, one.nodes, one.onset_step) for one in last.values()]


def test_a_row_reads_what_was_written_before() -> None:
    """A topology in which a stage reads what nobody writes is refused by name."""
    row = Row(Detect(), reads=("drafts",), writes=(), key="job")
    with pytest.raises(ValueError, match="detect: reads drafts"):
        Line((row,))


def test_a_memory_belongs_to_its_key() -> None:
    """Every stage of a key is told whose memory it is."""
    memory = line().blank("short")
    assert [getattr(stage, "key", "") for stage in memory.stages] == ["short"] * 3
    assert line().flush(memory) == []
