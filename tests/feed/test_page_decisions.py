"""Decisions made on the page are signed and reach the pipeline; called off they change nothing."""

import asyncio
import json

import pytest
from msgspec import structs

from schemas.action import Result
from schemas.codec import decode
from schemas.telemetry import Event
from tests.feed.browser import PROGRAM, STANDS, Browser
from tests.feed.conftest import Feed, wait_until
from tests.feed.worked_case import START

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on this machine: the page was NOT tested"),
]


def test_an_approval_is_signed_and_reaches_the_pipeline(worked_feed: Feed, browser: Browser) -> None:
    """Approve, name, confirm: the event is in the journal, the question is gone, the answer is shown."""

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            await tab.click(".question button.main")
            assert "Run loader.use_cache on wm-64?" in await tab.text("dialog")
            await tab.sign(by="ann")
            await tab.until("!document.querySelector('.question')")
            assert "approved by ann" in await tab.text("#details")

    asyncio.run(look())
    (entry,) = worked_feed.journal.read(0, 10)
    event = decode(entry.raw)
    assert isinstance(event, Event)
    assert (event.event, event.subject, event.data) == ("request.approved", "req-cache", {"by": "ann"})


def test_a_called_off_decision_changes_nothing(worked_feed: Feed, browser: Browser) -> None:
    """Cancel, and confirming without a name, send nothing."""

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            await tab.click(".question button.main")
            await tab.value("document.querySelector('dialog [name=by]').value = ''")
            await tab.click("dialog button.main")
            assert await tab.value("document.querySelector('dialog').open")
            await tab.click("dialog .buttons button")
            assert not await tab.value("document.querySelector('dialog').open")

    asyncio.run(look())
    assert worked_feed.journal.last() == 0


def test_a_result_shows_when_it_comes(worked_feed: Feed, browser: Browser) -> None:
    """A request that ends elsewhere is no longer asked here."""
    result = Result(
        request="req-cache",
        incident="inc-main",
        job="wm-64",
        attempt=1,
        action="loader.use_cache",
        outcome="expired",
        detail="nobody answered in 300 s",
        time=START,
    )

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(f"{STANDS} && document.querySelector('.question')")
            worked_feed.put("results", result)
            await tab.until("!document.querySelector('.question')")
            assert "nobody answered in 300 s" in await tab.text("#details")

    asyncio.run(look())


def test_incidents_are_taken_and_closed(worked_feed: Feed, browser: Browser) -> None:
    """Acknowledge and close travel with name, cause and legitimacy."""

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            await tab.click(".head-top .buttons button:nth-child(1)")
            await tab.sign(by="ann")
            await asyncio.to_thread(wait_until, lambda: worked_feed.journal.last() == 1, "it was taken")
            await tab.click(".head-top .buttons button:nth-child(2)")
            await tab.value("document.querySelector('dialog [name=legitimate]').checked = true")
            await tab.sign(by="bob", cause="storage_errors")
            await asyncio.to_thread(wait_until, lambda: worked_feed.journal.last() == 2, "it was closed")

    asyncio.run(look())
    events = [json.loads(entry.raw) for entry in worked_feed.journal.read(0, 10)]
    assert [(event["event"], event["data"]) for event in events] == [
        ("incident.acknowledged", {"by": "ann"}),
        ("incident.closed", {"by": "bob", "cause": "storage_errors", "legitimate": True}),
    ]


def test_a_verdict_is_corrected_the_day_after(worked_feed: Feed, browser: Browser) -> None:
    """What is closed offers one thing more: to say what it really was."""
    seen = worked_feed.archive.incident("inc-main")
    assert seen is not None
    worked_feed.put("incidents", structs.replace(seen, revision=seen.revision + 1, state="closed"))

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until("document.querySelector('.head-top .buttons button')?.innerText === 'Correct…'")
            await tab.click(".head-top .buttons button")
            await tab.sign(by="eve", cause="gpu_failed")
            await asyncio.to_thread(wait_until, lambda: worked_feed.journal.last() == 1, "it was said")

    asyncio.run(look())
    (entry,) = worked_feed.journal.read(0, 10)
    said = json.loads(entry.raw)["data"]
    assert (said["cause"], said["incident"]["id"], said["incident"]["state"]) == ("gpu_failed", "inc-main", "closed")


def test_the_kill_switch_is_one_press_and_a_name_away(worked_feed: Feed, browser: Browser) -> None:
    """The button stops all actions and then says who did; pressed again it lets them run."""

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            await tab.click("#switch")
            await tab.sign(by="ann")
            await tab.until("document.querySelector('#switch').innerText === 'Actions stopped by ann'")
            assert worked_feed.leases.stopped_by() == "ann"
            await tab.click("#switch")
            await tab.sign(by="bob")
            await tab.until("document.querySelector('#switch').innerText === 'Stop all actions'")
            assert worked_feed.leases.stopped_by() is None

    asyncio.run(look())
