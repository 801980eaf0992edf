"""Every sink against a real server: what arrives, and what each answer means."""

import asyncio
import json
import socket

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks.webhooks import Webhook as Verifier

from playbooks.retry import Delivered, Delivery, Disabled, Refused, Retry
from playbooks.sinks.catalogue import SINKS, make_sink
from playbooks.sinks.notice import Notice
from playbooks.sinks.sink import Sink
from streams.clock import unix_seconds
from streams.ports.aiohttp_http import AiohttpHttp
from tests.actions.receiver import Answer, Received, Receiver
from tests.actions.samples import a_request, an_incident

KEY = "0123456789abcdef0123456789abcdef"
SECRETS = ["whsec_bmV3LXNlY3JldC1vZi10aGlydHktdHdvLWJ5dGVz", "whsec_b2xkLXNlY3JldC1vZi10aGlydHktdHdvLWJ5dGVz"]


def every_sink(address: str) -> dict[str, Sink]:
    """Make one sink of each kind that posts to an address; a new kind has to be added here."""
    settings: dict[str, dict[str, object]] = {
        "slack": {"url": f"{address}/services/T0/B0/x9"},
        "pagerduty": {"url": f"{address}/v2/enqueue", "routing_key": KEY},
        "webhook": {"url": f"{address}/hook", "secrets": SECRETS},
    }
    return {kind: make_sink({"kind": kind, **settings[kind]}) for kind in SINKS}


def a_notice(**changed: object) -> Notice:
    """News of the brief's incident, sent now."""
    given = {"incident": an_incident(), "kind": "opened", "link": "http://tm/#incident=1", "sent_at": unix_seconds()}
    return Notice(**{**given, **changed})  # type: ignore[arg-type]


def deliver(kind: str, *script: Answer, notice: Notice | None = None) -> tuple[Delivery, list[Received]]:
    """Send one notice through a real client to a real server."""

    async def once() -> tuple[Delivery, list[Received]]:
        async with Receiver(*script).listening() as receiver, AiohttpHttp(seconds=5.0) as http:
            delivery = await every_sink(receiver.address)[kind].send(notice or a_notice(), http)
            return delivery, receiver.received

    return asyncio.run(once())


STATUSES: dict[int, type] = {
    200: Delivered,
    202: Delivered,
    204: Delivered,
    302: Refused,
    400: Refused,
    401: Refused,
    403: Refused,
    404: Refused,
    408: Retry,
    409: Refused,
    410: Disabled,
    413: Refused,
    425: Retry,
    429: Retry,
    500: Retry,
    502: Retry,
    503: Retry,
    504: Retry,
    599: Retry,
}


@pytest.mark.parametrize("kind", SINKS)
def test_answers_are_classified(kind: str) -> None:
    """Arrived, later or never: every kind of sink reads a status in the same way, and names it."""

    async def all_of_them() -> dict[int, Delivery]:
        script = [Answer(status=status, headers={"Location": "/elsewhere"}) for status in STATUSES]
        async with Receiver(*script).listening() as receiver, AiohttpHttp(seconds=5.0) as http:
            sink = every_sink(receiver.address)[kind]
            return {status: await sink.send(a_notice(), http) for status in STATUSES}

    for status, delivery in asyncio.run(all_of_them()).items():
        assert type(delivery) is STATUSES[status], status
        words = delivery.detail if isinstance(delivery, Delivered) else delivery.reason
        assert str(status) in words


@pytest.mark.parametrize("kind", SINKS)
@pytest.mark.parametrize(("header", "after"), [("17", 17.0), ("soon", None), ("", None)])
def test_the_wish_to_wait_is_passed_on(kind: str, header: str, after: float | None) -> None:
    """Retry-After of a busy server reaches the retry loop; an unreadable one is as none."""
    delivery, _ = deliver(kind, Answer(status=429, headers={"Retry-After": header}))
    assert isinstance(delivery, Retry)
    assert delivery.after == after


@pytest.mark.parametrize("kind", SINKS)
def test_redirects_are_not_followed(kind: str) -> None:
    """A receiver cannot send our message, and what it knows, to somebody else."""
    delivery, received = deliver(kind, Answer(status=307, headers={"Location": "/elsewhere"}))
    assert isinstance(delivery, Refused)
    assert len(received) == 1


@pytest.mark.parametrize("kind", SINKS)
def test_nobody_listening_is_tried_again(kind: str) -> None:
    """A refused connection is no answer: the message is tried again."""

    async def once() -> Delivery:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{closed.getsockname()[1]}"
            async with AiohttpHttp(seconds=5.0) as http:
                return await every_sink(address)[kind].send(a_notice(), http)

    assert isinstance(asyncio.run(once()), Retry)


@pytest.mark.parametrize("kind", SINKS)
def test_a_server_that_never_answers_is_tried_again(kind: str) -> None:
    """A connection that is taken and then kept silent ends with the time limit."""

    async def once() -> Delivery:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = f"http://127.0.0.1:{silent.getsockname()[1]}"
            async with AiohttpHttp(seconds=0.2) as http:
                return await every_sink(address)[kind].send(a_notice(), http)

    assert asyncio.run(once()) == Retry("no answer: timed out")


def test_slack_receives_text_and_blocks() -> None:
    """The wire holds what an incoming webhook wants: a fallback text, and blocks."""
    _, (received,) = deliver("slack")
    body = json.loads(received.body)
    assert received.path == "/services/T0/B0/x9"
    assert received.headers["Content-Type"].startswith("application/json")
    assert body["text"].startswith("[ERROR] wm-64")
    assert body["blocks"][0]["type"] == "header"


ACTIONS: dict[str, tuple[dict[str, object], str, str]] = {
    "new": ({}, "opened", "trigger"),
    "worse": ({"severity": "critical"}, "changed", "trigger"),
    "worse, and taken": ({"acknowledged_by": "night"}, "changed", "acknowledge"),
    "over": ({"state": "resolved"}, "resolved", "resolve"),
}


@pytest.mark.parametrize(("incident", "kind", "wanted"), ACTIONS.values(), ids=ACTIONS)
def test_pagerduty_follows_the_incident(incident: dict[str, object], kind: str, wanted: str) -> None:
    """One alert for each incident: triggered, taken and resolved under the same key."""
    _, (received,) = deliver(
        "pagerduty", Answer(status=202), notice=a_notice(incident=an_incident(**incident), kind=kind)
    )
    event = json.loads(received.body)
    assert event["event_action"] == wanted
    assert event["dedup_key"] == "50409911ed6b7da0"
    assert event["routing_key"] == KEY
    assert event["payload"]["severity"] in ("critical", "error", "warning", "info")
    assert event["payload"]["timestamp"] == "2025-03-03T00:01:00+00:00"
    assert event["links"] == [{"href": "http://tm/#incident=1", "text": "Open the incident"}]
    assert {"summary", "source", "component", "group", "class", "custom_details"} <= event["payload"].keys()


@pytest.mark.parametrize("secret", SECRETS, ids=["new", "old"])
def test_the_webhook_verifies_with_each_secret(secret: str) -> None:
    """During a rotation a receiver that knows either secret can verify what came over the wire."""
    _, (received,) = deliver("webhook")
    data = Verifier(secret).verify(received.body, received.headers)
    assert data["data"]["incident"]["id"] == "50409911ed6b7da0"


def test_a_changed_body_does_not_verify() -> None:
    """The signature covers every byte of the body."""
    _, (received,) = deliver("webhook")
    with pytest.raises(Exception, match="No matching signature"):
        Verifier(SECRETS[0]).verify(received.body.replace(b"wm-64", b"wm-65"), received.headers)


NOTICES: dict[str, tuple[dict[str, object], str]] = {
    "new": ({}, "io.trainmaster.incident.opened"),
    "worse": ({"kind": "changed"}, "io.trainmaster.incident.updated"),
    "over": ({"kind": "resolved"}, "io.trainmaster.incident.resolved"),
    "an order": ({"request": a_request("webhook")}, "io.trainmaster.action.requested"),
}


@pytest.mark.parametrize(("changed", "wanted"), NOTICES.values(), ids=NOTICES)
def test_the_webhook_is_a_cloud_event(changed: dict[str, object], wanted: str) -> None:
    """The CloudEvents library reads the message back, and its id is the webhook's id."""
    _, (received,) = deliver("webhook", notice=a_notice(**changed))
    assert received.headers["Content-Type"].startswith("application/cloudevents+json")
    event = from_http_event(HTTPMessage({"content-type": "application/cloudevents+json"}, received.body))
    assert event.get_type() == wanted
    assert event.get_id() == received.headers["webhook-id"]
    assert event.get_subject() == "50409911ed6b7da0"
    if "request" in changed:
        assert event.get_id() == "r-webhook"
        data = event.get_data()
        assert isinstance(data, dict)
        assert data["request"]["action"] == "webhook"


def test_a_repeated_try_bears_the_same_id() -> None:
    """A receiver can tell a repetition even when the incident has gone on meanwhile; the time is that of the try."""
    first, again = a_notice(sent_at=1000.0), a_notice(sent_at=2000.0, incident=an_incident(revision=9))
    _, (one,) = deliver("webhook", notice=first)
    _, (two,) = deliver("webhook", notice=again)
    assert one.headers["webhook-id"] == two.headers["webhook-id"]
    assert (one.headers["webhook-timestamp"], two.headers["webhook-timestamp"]) == ("1000", "2000")
