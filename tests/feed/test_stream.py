"""The stream gives every change once, in order, from where a reader broke off."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from cloudevents.core.formats.json import JSONFormat
from msgspec import Struct

from schemas.action import Request, Result
from schemas.incident import Incident
from tests.feed.conftest import DEADLINE_SECONDS, Feed, running_feed

Json = Any  # what JSON holds


class Message(Struct, frozen=True):
    """One event as it came."""

    id: str
    event: str
    data: str

    def body(self) -> Json:
        """Give the CloudEvent."""
        return json.loads(self.data)


async def _listen(
    feed: Feed, query: str, wanted: int, headers: dict[str, str], begun: Callable[[], None]
) -> list[Message]:
    messages: list[Message] = []
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        aiohttp.ClientSession() as session,
        session.get(f"{feed.url}/api/v1/stream{query}", headers=headers) as response,
    ):
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["cache-control"] == "no-cache"
        assert await _block(response.content) == {"": "trainmaster", "retry": "3000"}
        await asyncio.to_thread(begun)
        while len(messages) < wanted:
            fields = await _block(response.content)
            if "event" in fields:
                messages.append(Message(fields["id"], fields["event"], fields["data"]))
    return messages


async def _block(content: aiohttp.StreamReader) -> dict[str, str]:
    fields = {}
    while line := (await content.readline()).decode().rstrip("\n"):
        name, _, value = line.partition(": ")
        fields[name.rstrip(":")] = value
    return fields


def _hear(
    feed: Feed,
    wanted: int,
    query: str = "",
    headers: dict[str, str] | None = None,
    begun: Callable[[], None] = lambda: None,
) -> list[Message]:
    """Listen until so many events came; `begun` is called when the stream is open."""
    return asyncio.run(_listen(feed, query, wanted, headers or {}, begun))


def test_without_an_id_a_reader_hears_what_comes_next(worked_feed: Feed, incident: Callable[..., Incident]) -> None:
    """What was filed before is not repeated; what is filed after the opening arrives."""
    heard = _hear(worked_feed, 1, begun=lambda: worked_feed.put("incidents", incident(revision=2, state="recovering")))
    assert [(message.event, message.body()["data"]["revision"]) for message in heard] == [
        ("io.trainmaster.incident.updated", 2)
    ]


@pytest.mark.parametrize("how", ["header", "query"])
def test_a_reader_resumes_where_it_broke_off(shared_feed: Feed, how: str) -> None:
    """Cut after any event and resumed with its id, the two parts are the whole, without gap or repetition."""
    whole = _hear(shared_feed, 8, "?last_event_id=0")
    assert [int(message.id) for message in whole] == sorted({int(message.id) for message in whole})
    for cut in (1, 4, 7):
        broke_off = whole[cut - 1].id
        query, headers = ("", {"Last-Event-ID": broke_off}) if how == "header" else (f"?last_event_id={broke_off}", {})
        assert _hear(shared_feed, 8 - cut, query, headers) == whole[cut:]


def test_events_name_what_happened(feed: Feed, incident: Callable[..., Incident], asked: Request) -> None:
    """A life of an incident with an action is told in its words; only a change of state opens, resolves or closes."""
    result = Result(
        request=asked.id,
        incident="inc-main",
        job="wm-64",
        attempt=1,
        action="loader.use_cache",
        outcome="done",
        time=1.0,
    )
    feed.put("incidents", incident())
    feed.put("requests", asked)
    feed.put("results", result)
    feed.put("incidents", incident(revision=1, state="resolved"), incident(revision=2, state="resolved"))
    feed.put("incidents", incident(id="inc-2", revision=3, state="closed"))
    feed.put("incidents", incident(id="inc-2", revision=4, state="closed"))
    heard = [message.event.removeprefix("io.trainmaster.") for message in _hear(feed, 7, "?last_event_id=0")]
    assert heard == [
        "incident.opened",
        "action.requested",
        "action.finished",
        "incident.resolved",
        "incident.updated",
        "incident.opened",
        "incident.updated",
    ]


def test_every_event_is_a_cloud_event(shared_feed: Feed) -> None:
    """Each is valid CloudEvents 1.0 with a derived id, the subject, the record's own time and the record whole."""
    for message in _hear(shared_feed, 8, "?last_event_id=0"):
        event = from_structured_event(
            HTTPMessage({"content-type": "application/cloudevents+json"}, message.data.encode()), JSONFormat()
        )
        assert event.get_specversion() == "1.0"
        assert event.get_type() == message.event
        assert event.get_source() == "/trainmaster/feed"
        assert str(event.get_id()).count(":") == 2
    main = next(m.body() for m in _hear(shared_feed, 8, "?last_event_id=0") if '"inc-main"' in m.data)
    assert (main["id"], main["subject"], main["datacontenttype"]) == (
        "incidents:inc-main:0",
        "inc-main",
        "application/json",
    )
    assert main["time"].startswith("2025-03-03T")
    assert main["time"].endswith("Z")
    assert main["data"]["title"] == "Object storage retries starve the loader"


def test_a_reader_may_want_one_job(worked_feed: Feed, incident: Callable[..., Incident]) -> None:
    """Events of other jobs are left out."""
    worked_feed.put("incidents", incident(id="a", job="other"), incident(id="b"), incident(id="c", job="other"))
    heard = _hear(worked_feed, 2, "?last_event_id=0&job=other")
    assert [message.body()["subject"] for message in heard] == ["a", "c"]


def test_a_reader_from_another_archive_is_told(worked_feed: Feed, incident: Callable[..., Incident]) -> None:
    """An id this archive has never given is answered with a reset, and the stream goes on from now."""
    heard = _hear(
        worked_feed, 2, "?last_event_id=999999", begun=lambda: worked_feed.put("incidents", incident(revision=2))
    )
    assert [message.event for message in heard] == ["io.trainmaster.reset", "io.trainmaster.incident.updated"]
    assert heard[0].id == str(worked_feed.archive.last() - 1)


def test_an_id_that_is_none_is_refused(shared_feed: Feed) -> None:
    """The fault is named before the stream begins."""
    answer = shared_feed.call("GET", "/api/v1/stream", headers={"Last-Event-ID": "abc"})
    assert (answer.status, answer.json()["errors"][0]["field"]) == (400, "header.last-event-id")


def test_a_reader_that_does_not_read_holds_up_nobody(worked_feed: Feed, incident: Callable[..., Incident]) -> None:
    """While one reader takes nothing of megabytes another one hears all of it, and calls are answered."""
    long = "x" * 200_000
    worked_feed.put("incidents", *(incident(id=f"long-{number}", title=long) for number in range(100)))
    last = worked_feed.archive.last()

    async def beside_a_sleeper() -> list[Message]:
        async with (
            aiohttp.ClientSession(read_bufsize=1024) as session,
            session.get(f"{worked_feed.url}/api/v1/stream?last_event_id=0"),
        ):
            return await _listen(worked_feed, f"?last_event_id={last - 20}", 20, {}, lambda: None)

    heard = asyncio.run(beside_a_sleeper())
    assert [int(message.id) for message in heard] == list(range(last - 19, last + 1))
    assert worked_feed.call("GET", "/livez").status == 200


def test_streams_end_with_the_server(tmp_path: Path, incident: Callable[..., Incident]) -> None:
    """A server that is told to stop closes its open streams properly, and at once."""

    async def to_the_end(feed: Feed, stop: Callable[[], None]) -> bytes:
        async with (
            asyncio.timeout(DEADLINE_SECONDS),
            aiohttp.ClientSession() as session,
            session.get(f"{feed.url}/api/v1/stream?last_event_id=0") as response,
        ):
            while b"inc-main" not in await response.content.readline():
                pass
            stop()
            return await response.content.read()

    with running_feed(tmp_path, None) as (feed, stop):
        feed.put("incidents", incident())
        assert asyncio.run(to_the_end(feed, stop)).strip() == b"id: 1"
