"""What the feed shows is what the archive holds."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from schemas.action import Control
from schemas.codec import from_wire
from schemas.detection import Vitals
from schemas.incident import Incident
from tests.feed.conftest import Feed
from tests.feed.worked_case import ONSET

Json = Any  # what JSON holds
API = "/api/v1"


def test_incidents_are_listed_newest_first(shared_feed: Feed) -> None:
    """The list holds whole incidents in the wire format, the newest change first."""
    listed = shared_feed.call("GET", f"{API}/incidents").json()
    assert [item["id"] for item in listed["items"]] == ["inc-main", "inc-change", "inc-earlier"]
    assert listed["next_cursor"] is None
    assert listed["items"][0]["evidence"][0]["for"] is True


QUERIES = {
    "state=acting": ["inc-main"],
    "state=closed": ["inc-change"],
    "job=wm-64&limit=1": ["inc-main"],
    "job=other": [],
    "node=n05&state=resolved": ["inc-earlier"],
    "since=1740963500": ["inc-main"],
}


@pytest.mark.parametrize("query", QUERIES)
def test_queries_select(shared_feed: Feed, query: str) -> None:
    """Every field of the query selects."""
    listed = shared_feed.call("GET", f"{API}/incidents?{query}").json()
    assert [item["id"] for item in listed["items"]] == QUERIES[query]


def test_pages_follow_the_cursor(shared_feed: Feed) -> None:
    """Pages of one give every incident once and end with no cursor."""
    seen: list[str] = []
    cursor: int | None = 0
    while cursor is not None:
        page = shared_feed.call("GET", f"{API}/incidents?limit=1&cursor={cursor}").json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == ["inc-main", "inc-change", "inc-earlier"]


@pytest.mark.parametrize("query", ["state=broken", "limit=0", "limit=many", "cursor=-1", "since=yesterday"])
def test_a_bad_query_names_its_field(shared_feed: Feed, query: str) -> None:
    """A value that cannot be is refused with the name of the field."""
    answer = shared_feed.call("GET", f"{API}/incidents?{query}")
    assert answer.status == 422
    assert answer.json()["errors"][0]["field"] == f"query.{query.partition('=')[0]}"


def test_one_incident_is_read_back_whole(shared_feed: Feed) -> None:
    """The answer decodes to the incident that was filed, and its revisions come oldest first."""
    answer = shared_feed.call("GET", f"{API}/incidents/inc-main")
    assert from_wire(answer.raw, Incident) == shared_feed.archive.incident("inc-main")
    revisions = shared_feed.call("GET", f"{API}/incidents/inc-main/revisions").json()["items"]
    assert [item["revision"] for item in revisions] == [0, 1]
    assert shared_feed.call("GET", f"{API}/incidents/none").status == 404
    assert shared_feed.call("GET", f"{API}/incidents/none/revisions").status == 404


def test_a_control_document_is_sent_once(worked_feed: Feed) -> None:
    """A caller that shows the tag it has gets 304 until the version grows; a job that was never told anything 204."""
    path = f"{API}/control/wm-64"
    first = worked_feed.call("GET", path)
    tag = first.headers["etag"]
    assert (first.status, tag) == (200, '"1"')
    assert from_wire(first.raw, Control).settings["checkpoint.defer_until_step"].value == 18_600
    for known in (tag, f"W/{tag}", f'"0", {tag}', "*"):
        again = worked_feed.call("GET", path, headers={"If-None-Match": known})
        assert (again.status, again.raw) == (304, b"")
    worked_feed.put("control", Control(job="wm-64", attempt=1, version=2))
    assert worked_feed.call("GET", path, headers={"If-None-Match": tag}).headers["etag"] == '"2"'
    assert worked_feed.call("GET", f"{API}/control/other").status == 204


def test_names_with_slashes_are_names(feed: Feed) -> None:
    """A job called `team/run 7` has its control document and its series."""
    feed.put("control", Control(job="team/run 7", attempt=1, version=1))
    feed.put("vitals", Vitals(job="team/run 7", attempt=1, step=1, time=2.0, values={"loss": 1.0}))
    assert feed.call("GET", f"{API}/control/team%2Frun%207").json()["job"] == "team/run 7"
    assert feed.call("GET", f"{API}/jobs/team%2Frun%207/series").json()["step"] == [1]


def test_jobs_show_where_they_are(shared_feed: Feed) -> None:
    """A job has its step, time and number of open incidents."""
    (job,) = shared_feed.call("GET", f"{API}/jobs").json()["items"]
    assert (job["job"], job["attempt"], job["step"], job["open_incidents"]) == ("wm-64", 1, 18_399, 1)


def test_a_series_comes_in_columns(shared_feed: Feed) -> None:
    """Columns are of equal length, within the limit, and show the one step whose loss was not a number."""
    series = shared_feed.call("GET", f"{API}/jobs/wm-64/series?points=400").json()
    lengths = {len(series["time"]), len(series["step"]), *(len(column) for column in series["values"].values())}
    assert len(lengths) == 1
    assert lengths.pop() <= 400
    at = series["step"].index(17_500)
    assert series["values"]["loss"][at] == "NaN"
    assert series["values"]["checkpoint_seconds"][series["step"].index(18_047 - 47 + 300)] == 41.0


def test_absent_and_lost_readings_differ(feed: Feed) -> None:
    """An absent reading is null, one that was not finite is spelled out, and zero is zero."""
    values: list[dict[str, float | None]] = [{"loss": math.inf, "skipped": 0.0}, {"loss": 2.0}]
    feed.put("vitals", *(Vitals(job="j", attempt=1, step=n, time=n, values=v) for n, v in enumerate(values)))
    assert feed.call("GET", f"{API}/jobs/j/series").json()["values"] == {"loss": ["NaN", 2.0], "skipped": [0.0, None]}


def test_a_series_is_cut_by_time_and_kind(shared_feed: Feed) -> None:
    """Begin and end select, kinds are apart, an unknown kind is refused, an unknown job is empty."""
    whole = shared_feed.call("GET", f"{API}/jobs/wm-64/series?of=mount&points=20000").json()
    begin, end = whole["time"][10], whole["time"][20]
    part = shared_feed.call("GET", f"{API}/jobs/wm-64/series?of=mount&begin={begin}&end={end}").json()
    assert part["time"] == whole["time"][10:21]
    assert "storage_retries_per_second" in part["values"]
    assert shared_feed.call("GET", f"{API}/jobs/wm-64/series?of=weather").status == 422
    assert shared_feed.call("GET", f"{API}/jobs/none/series").json()["time"] == []


def test_taints_are_listed(shared_feed: Feed) -> None:
    """The ledger of a job names the contaminated steps."""
    (taint,) = shared_feed.call("GET", f"{API}/taints?job=wm-64").json()["items"]
    assert (taint["from_step"], taint["to_step"]) == (ONSET, 18_399)
    assert shared_feed.call("GET", f"{API}/taints?job=other").json()["items"] == []


def test_unreadable_records_are_listed(feed: Feed) -> None:
    """Dead letters come newest first with reason and bytes."""
    feed.call("POST", f"{API}/telemetry", data=b"{broken")
    (letter,) = feed.call("GET", f"{API}/dead?limit=5").json()["items"]
    assert (letter["reason"], letter["raw"]) == ("malformed", "e2Jyb2tlbg==")


def test_health_tells_how_far_the_pipeline_is(feed: Feed) -> None:
    """A living process says ok; a ready one says how much of the journal has not been worked through."""
    assert feed.call("GET", "/livez").raw == b"ok\n"
    feed.call(
        "POST",
        f"{API}/telemetry",
        data=b'{"kind":"event","job":"j","attempt":1,"node":"n","seq":0,"time":1,"event":"xid"}',
    )
    assert feed.call("GET", "/readyz").json() == {"ready": True, "journal": 1, "said": 0, "behind": 1}
    feed.archive.put([], 1)
    assert feed.call("GET", "/readyz").json()["behind"] == 0


def test_the_description_names_every_path(shared_feed: Feed) -> None:
    """The OpenAPI description is served from here and knows the calls."""
    paths = shared_feed.call("GET", f"{API}/openapi.json").json()["paths"]
    assert {f"{API}/telemetry", f"{API}/incidents", f"{API}/stream", f"{API}/killswitch", "/readyz"} <= set(paths)


def test_revisions_move_an_incident_to_the_front(worked_feed: Feed, incident: Callable[..., Incident]) -> None:
    """A new revision of an older incident comes first in the list."""
    worked_feed.put("incidents", incident(id="inc-earlier", revision=5, state="resolved"))
    listed = worked_feed.call("GET", f"{API}/incidents").json()["items"]
    assert [item["id"] for item in listed] == ["inc-earlier", "inc-main", "inc-change"]
