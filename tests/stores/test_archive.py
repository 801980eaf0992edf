"""What every archive does."""

import math
from typing import get_args

import pytest

from schemas.action import Control, Setting
from schemas.codec import from_wire
from schemas.detection import Vitals
from schemas.incident import Affected, Incident, Suspect
from schemas.telemetry import Event, Tick
from schemas.topics import TOPICS, Outbound
from streams.stages.stage import Sent
from streams.stores.store import Archive, IncidentQuery, JobSummary
from tests.stores.records import (
    make_dead,
    make_detection,
    make_incident,
    make_request,
    make_result,
    make_taint,
    make_vitals,
    put,
)

ONE_OF_EACH: dict[str, Outbound] = {
    "detections": make_detection("det-1", before=math.nan),
    "incidents": make_incident(),
    "requests": make_request("req-1"),
    "results": make_result("req-1"),
    "control": Control(
        job="wm-64", attempt=1, version=1, settings={"loader.path": Setting(value="c", request="req-1")}
    ),
    "taints": make_taint("taint-1"),
    "dead": make_dead(7),
}


def test_one_of_each_covers_the_table_of_topics() -> None:
    """The table of this test names every kind of record that an archive files, vitals apart."""
    assert {type(record) for record in ONE_OF_EACH.values()} | {Vitals} == set(get_args(Outbound))


@pytest.mark.parametrize("topic", ONE_OF_EACH)
def test_a_record_is_filed_once(archive: Archive, topic: str) -> None:
    """A record said twice, in one put or in two, stands once and comes back equal."""
    record = ONE_OF_EACH[topic]
    put(archive, topic, record, record)
    put(archive, topic, record)
    filed = archive.feed(0, 10, [topic])
    assert [one.topic for one in filed] == [topic]
    assert repr(from_wire(filed[0].raw, type(record))) == repr(record)


def test_sequences_grow_by_one(archive: Archive) -> None:
    """Records are numbered without a gap, whatever was repeated in between."""
    for topic, record in ONE_OF_EACH.items():
        put(archive, topic, record, record)
        put(archive, topic, record)
    filed = archive.feed(0, 100, list(ONE_OF_EACH))
    assert [one.sequence for one in filed] == list(range(1, len(ONE_OF_EACH) + 1))
    assert archive.last() == len(ONE_OF_EACH)


@pytest.mark.parametrize("topic", [topic.name for topic in TOPICS if topic.name not in {*ONE_OF_EACH, "vitals"}])
def test_other_streams_are_not_filed(archive: Archive, topic: str) -> None:
    """Streams that stay inside the process, and the derived one, leave no trace."""
    event = Event(job="wm-64", attempt=1, node="n01", seq=1, time=1.0, event="xid")
    archive.put([Sent(topic, "key", event), Sent(topic, "key", Tick(time=1.0)), Sent(topic, "key", make_incident())], 3)
    assert archive.last() == 0
    assert archive.incident("inc-1") is None
    assert archive.progress() == 3


def test_the_feed_resumes_and_selects_topics(archive: Archive) -> None:
    """A reader that gives back the last sequence gets what came after, of its topics only, never more than asked."""
    for number in range(6):
        put(archive, "detections", make_detection(f"det-{number}"))
        put(archive, "incidents", make_incident(revision=number))
    first = archive.feed(0, 4, ["incidents"])
    rest = archive.feed(first[-1].sequence, 10, ["incidents"])
    assert [from_wire(one.raw, Incident).revision for one in (*first, *rest)] == list(range(6))
    assert archive.feed(archive.last(), 10, ["incidents", "detections"]) == []


def test_progress_is_noted_with_the_records_and_never_goes_back(archive: Archive) -> None:
    """The offset up to which everything was said is that of the furthest put."""
    assert archive.progress() == 0
    put(archive, "incidents", make_incident(), upto=5)
    archive.put([], 9)
    archive.put([], 3)
    assert archive.progress() == 9


def test_a_put_is_filed_whole_or_not_at_all(archive: Archive) -> None:
    """Where one record cannot be written, none of the put is there and the progress is the old one."""
    broken = make_detection("det-1", numbers={"": object()})
    with pytest.raises(TypeError):
        archive.put([Sent("incidents", "key", make_incident()), Sent("detections", "key", broken)], 5)
    assert archive.last() == 0
    assert archive.incidents(IncidentQuery()) == ([], 0)
    assert archive.progress() == 0


def test_the_highest_revision_is_the_present_view(archive: Archive) -> None:
    """Revisions may arrive in any order; the highest is shown, all of them are kept."""
    for revision in (0, 2, 1):
        put(archive, "incidents", make_incident(revision=revision, state="open" if revision < 2 else "resolved"))
    present = archive.incident("inc-1")
    assert present is not None
    assert (present.revision, present.state) == (2, "resolved")
    assert [one.revision for one in archive.revisions("inc-1")] == [0, 1, 2]
    assert archive.incidents(IncidentQuery())[0] == [present]
    assert archive.incident("inc-2") is None
    assert archive.revisions("inc-2") == []


QUERIES = {
    "everything": (IncidentQuery(), ["d", "c", "b", "a"]),
    "state": (IncidentQuery(state="resolved"), ["b"]),
    "job": (IncidentQuery(job="other"), ["c"]),
    "node that is to blame": (IncidentQuery(node="n01"), ["a"]),
    "node that suffered": (IncidentQuery(node="n02"), ["c", "b"]),
    "node that is suspected": (IncidentQuery(node="n03"), ["d"]),
    "rank of the same name as a node": (IncidentQuery(node="7"), []),
    "since": (IncidentQuery(since=2000.0), ["d", "c"]),
    "all at once": (IncidentQuery(state="open", job="other", node="n02", since=2000.0), ["c"]),
    "nothing": (IncidentQuery(state="acting"), []),
}


@pytest.mark.parametrize("name", QUERIES)
def test_incidents_are_found(archive: Archive, name: str) -> None:
    """Every field of a query selects, empty ones do not, and the newest change comes first."""
    put(
        archive,
        "incidents",
        make_incident("a", nodes=("n01",)),
        make_incident("b", state="resolved", affected=Affected(nodes=("n02",))),
        make_incident("c", job="other", affected=Affected(nodes=("n02",)), updated_time=2000.0),
        make_incident(
            "d",
            updated_time=3000.0,
            suspects=(Suspect(kind="node", id="n03", score=0.9), Suspect(kind="rank", id="7", score=0.1)),
        ),
    )
    query, expected = QUERIES[name]
    found, cursor = archive.incidents(query)
    assert [incident.id for incident in found] == expected
    assert cursor == 0


def test_pages_of_incidents_join_without_a_gap(archive: Archive) -> None:
    """Page after page by the cursor gives every incident once, newest change first."""
    for number in range(7):
        put(archive, "incidents", make_incident(f"inc-{number}"))
    seen: list[str] = []
    query = IncidentQuery(limit=3)
    while True:
        page, cursor = archive.incidents(query)
        seen += [incident.id for incident in page]
        if not cursor:
            break
        query = IncidentQuery(limit=3, cursor=cursor)
    assert seen == [f"inc-{number}" for number in reversed(range(7))]


def test_requests_and_results_are_found(archive: Archive) -> None:
    """Requests are listed oldest first, whole or by incident, and a result by its request; the first result stays."""
    put(archive, "requests", make_request("req-1"), make_request("req-2", "inc-2"), make_request("req-3"))
    put(archive, "results", make_result("req-1"), make_result("req-1", "failed"))
    assert [request.id for request in archive.requests()] == ["req-1", "req-2", "req-3"]
    assert [request.id for request in archive.requests("inc-1")] == ["req-1", "req-3"]
    assert archive.request("req-2") == make_request("req-2", "inc-2")
    assert archive.request("req-9") is None
    assert archive.result("req-1") == make_result("req-1")
    assert archive.result("req-2") is None


def test_the_highest_version_of_a_control_document_stands(archive: Archive) -> None:
    """A trainer is told the newest version, even if an older one is filed after it."""
    put(archive, "control", *(Control(job="wm-64", attempt=1, version=version) for version in (1, 3, 2)))
    assert archive.control("wm-64") == Control(job="wm-64", attempt=1, version=3)
    assert archive.control("other") is None


def test_taints_are_listed_by_job(archive: Archive) -> None:
    """The ledger gives all ranges, or those of one job, oldest entry first."""
    put(archive, "taints", make_taint("t1"), make_taint("t2", "other"), make_taint("t3"))
    assert [taint.id for taint in archive.taints()] == ["t1", "t2", "t3"]
    assert [taint.id for taint in archive.taints("wm-64")] == ["t1", "t3"]


def test_unreadable_records_are_kept_newest_first_and_bounded(archive: Archive) -> None:
    """The newest dead letters come first with their bytes; a flood of them does not fill the disk."""
    put(archive, "dead", *(make_dead(number) for number in range(1500)))
    assert [letter.offset for letter in archive.dead(3)] == [1499, 1498, 1497]
    assert archive.dead(1)[0].raw == b"\xff{"
    assert len(archive.dead(5000)) == 1000
    put(archive, "dead", make_dead(1500, line=4))
    assert archive.last() == 1501


def test_jobs_are_known_by_what_is_said_of_them(archive: Archive) -> None:
    """A job has its latest attempt, step and time and the number of its open incidents, the latest job first."""
    put(archive, "vitals", make_vitals(100), make_vitals(101), make_vitals(40, attempt=2, time=1200.0))
    put(archive, "vitals", make_vitals(101, attempt=1, time=1500.0, of="gpu"), make_vitals(7, job="other", time=5000.0))
    put(archive, "incidents", make_incident("a"), make_incident("b"), make_incident("b", 1, state="resolved"))
    put(archive, "incidents", make_incident("c", job="quiet", updated_time=100.0))
    assert archive.jobs() == [
        JobSummary("other", 1, 7, 5000.0, 0),
        JobSummary("wm-64", 2, 40, 1200.0, 1),
        JobSummary("quiet", 1, None, 100.0, 1),
    ]
