"""THE tables of events and topics keep their own rules."""

import re
from collections import Counter
from typing import get_args

import pytest

from schemas.events import BY_NAME as EVENT_NAMED
from schemas.events import EVENTS, EventKind
from schemas.telemetry import Inbound
from schemas.topics import BY_NAME, TOPICS, Outbound, Topic, topic_named

INSIDE = {"telemetry", "events", "drafts"}
"""Streams of which the same record type has a further one: what comes in, and what stays in the process."""


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_a_row_of_the_events(event: EventKind) -> None:
    """A word is one of small letters with dots, its meaning is for a person, its fields stand once."""
    assert re.fullmatch(r"[a-z]+(\.[a-z_]+)?", event.name)
    assert len(event.meaning) > 3
    assert len(set(event.fields)) == len(event.fields)
    assert event.subject in ("", "gpu", "node", "mount", "request", "incident", "job", "cluster", "entity")
    assert EVENT_NAMED[event.name] is event


def test_events_are_unique() -> None:
    """No word stands twice."""
    assert len(EVENT_NAMED) == len(EVENTS)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_row_of_the_topics(topic: Topic) -> None:
    """A stream of Kafka has a key, partitions and a time to keep; one inside a process has none of these."""
    assert re.fullmatch(r"[a-z]+(\.[a-z]+)?", topic.name)
    assert topic.records
    assert topic.meaning
    assert topic_named(topic.name) is topic
    assert (topic.partitions > 0) == bool(topic.key)
    if not topic.key:
        assert topic.name in INSIDE
        assert (topic.retention_hours, topic.compacted) == (0, False)


def test_streams_of_one_key_have_one_count_of_partitions() -> None:
    """One job is in the same partition of every stream that is kept by job, and likewise one incident."""
    for key in ("job", "incident"):
        assert len({topic.partitions for topic in TOPICS if topic.key == key}) == 1


def test_topics_are_unique() -> None:
    """No stream stands twice, and an unknown one is an error."""
    assert len(BY_NAME) == len(TOPICS)
    with pytest.raises(KeyError):
        topic_named("nothing")


def test_what_goes_out_has_one_stream() -> None:
    """Every record type that leaves the process has exactly one stream, and incidents a second one with the last."""
    homes = Counter(record for topic in TOPICS if topic.name not in INSIDE for record in topic.records)
    outbound = get_args(Outbound)
    assert set(homes) == set(outbound)
    assert {record.__name__: times for record, times in homes.items() if times != 1} == {"Incident": 2}
    assert topic_named("incidents.latest").compacted


def test_what_comes_in_has_one_stream() -> None:
    """Every record that agents or the runtime send arrives in the one stream of telemetry."""
    assert set(topic_named("telemetry").records) == set(get_args(Inbound))
