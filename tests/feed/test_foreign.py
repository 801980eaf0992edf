"""Alerts and CloudEvents on a real server: in the journal once however often they come, refused with a reason."""

import json

from schemas.codec import decode
from schemas.telemetry import Event
from tests.agents.events.test_events import ALERT, HEALTH, cloud_event, webhook
from tests.feed.conftest import Feed


def journal(feed: Feed) -> list[Event]:
    """Give the events in the journal."""
    records = [decode(entry.raw) for entry in feed.journal.read(0, 100)]
    return [record for record in records if isinstance(record, Event)]


def test_an_alert_goes_to_its_job(feed: Feed) -> None:
    """A webhook with an alert is an event of its job, woken for; sent again it is byte for byte the same record."""
    for _ in range(2):
        assert feed.call("POST", "/api/v1/alerts", data=webhook()).json() == {"accepted": 1}
    first, second = journal(feed)
    assert first == second
    assert (first.job, first.node, first.event, first.data["labels"]) == ("wm-64", "n05", "alert", ALERT["labels"])
    assert feed.woken


def test_a_cloud_event_without_a_job_is_the_clusters(feed: Feed) -> None:
    """A health event names no job: it is kept under the cluster, with the node as its source."""
    event = json.dumps(cloud_event({"healthEvent": HEALTH})).encode()
    assert feed.call("POST", "/api/v1/cloudevents", data=event).json() == {"accepted": 2}
    assert [(each.job, each.attempt, each.node, each.event) for each in journal(feed)] == [
        ("default", 0, "n05", "node.condition"),
        ("default", 0, "n05", "xid"),
    ]


def test_what_cannot_be_read_is_refused(feed: Feed) -> None:
    """Other bodies, and data that no record could hold, are 400 with a reason, and nothing is kept."""
    deep: object = 1
    for _ in range(40):
        deep = [deep]
    for path, data in {
        "/api/v1/alerts": b"{}",
        "/api/v1/cloudevents": json.dumps(cloud_event({"deep": deep})).encode(),
    }.items():
        answer = feed.call("POST", path, data=data)
        assert answer.status == 400
        assert "cannot be read" in answer.json()["detail"]
    assert journal(feed) == []
