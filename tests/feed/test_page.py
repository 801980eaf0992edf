"""The operators' page in a real browser, against a real feed."""

import asyncio
import math
from collections.abc import Callable

import pytest

from schemas.detection import Vitals
from schemas.incident import Evidence, Incident
from tests.feed.browser import PROGRAM, STANDS, Browser, Tab
from tests.feed.conftest import TOKEN, Feed
from tests.feed.worked_case import START

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on this machine: the page was NOT tested"),
]


FACTS = {
    "#head": (
        "Object storage retries starve the loader",
        "since step 18,046",
        "86\u00a0%",
        "/data/wm-videos",
        "next best: slow decode",
        "18,046 – 18,399",
        "5.4 GPU-hours",
        "Waiting for you",
    ),
    "#details": ("Storage retries rose", "also fit a saturated", "not scraped", "numerical instability", "verified"),
}


async def _painted(tab: Tab, canvas: int) -> bool:
    """Tell whether a strip shows anything but its background."""
    count = await tab.value(
        f"(() => {{ const c = document.querySelectorAll('.strip canvas')[{canvas}];"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "return new Set(new Uint32Array(d.buffer)).size; })()"
    )
    return int(count) > 20


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_the_worked_case_is_on_one_page(shared_feed: Feed, browser: Browser, is_dark: bool) -> None:
    """List, head, four painted strips, evidence and actions are there, and the browser complains about nothing."""

    async def look() -> None:
        async with browser.open(shared_feed.url, is_dark=is_dark) as tab:
            await tab.until(STANDS)
            await tab.until("document.querySelectorAll('.flag').length >= 4")
            assert await tab.value("document.querySelectorAll('.incident').length") == 3
            for selector, facts in FACTS.items():
                seen = await tab.text(selector)
                assert [fact for fact in facts if fact not in seen] == []
            assert [await _painted(tab, strip) for strip in range(4)] == [True] * 4
            assert await tab.text("#place") == "attempt 1 · step 18,399"
            assert tab.complaints == []

    asyncio.run(look())


def test_all_four_strips_fit_the_screen(shared_feed: Feed, browser: Browser) -> None:
    """At 1280 by 800 the whole time line is seen without scrolling, and nothing scrolls sideways."""

    async def look() -> None:
        async with browser.open(shared_feed.url) as tab:
            await tab.until(STANDS)
            await tab.until("document.querySelectorAll('.flag').length >= 4")
            assert await tab.value("document.querySelector('#strips').getBoundingClientRect().bottom") <= 800
            assert await tab.value("document.documentElement.scrollWidth") == 1280
            assert await tab.value("(m => m.scrollWidth - m.clientWidth)(document.querySelector('main'))") == 0

    asyncio.run(look())


def test_changes_arrive_by_themselves(worked_feed: Feed, browser: Browser, incident: Callable[..., Incident]) -> None:
    """A new revision, a new incident and new steps show without anybody touching the page."""

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            worked_feed.put(
                "incidents", incident(revision=2, state="recovering", title="Reads come from the cache now")
            )
            await tab.until("document.querySelector('#head h2').innerText === 'Reads come from the cache now'")
            assert await tab.text("#head .state") == "recovering"
            worked_feed.put("incidents", incident(id="inc-new", title="Another one", severity="critical"))
            await tab.until("document.querySelector('.incident-title').innerText === 'Another one'")
            assert await tab.value("document.querySelector('#head h2').innerText") == "Reads come from the cache now"
            worked_feed.put(
                "vitals", Vitals(job="wm-64", attempt=1, step=18_400, time=START + 4_000, values={"loss": 7.77})
            )
            await tab.until("document.querySelector('[data-signal=loss] .signal-value').innerText === '7.77'")
            await tab.until("document.querySelector('#place').innerText.endsWith('18,400')")
            assert tab.complaints == []

    asyncio.run(look())


def test_the_recovery_is_drawn(worked_feed: Feed, browser: Browser, incident: Callable[..., Incident]) -> None:
    """After an incident has ended its curves go on for a while: the proof of a cure is what comes after it."""
    end = START + 3_900
    over = incident(revision=2, state="resolved", end_step=18_399, end_time=end, updated_time=end + 5)

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            worked_feed.put("incidents", over)
            await tab.until("document.querySelector('#head .state').innerText === 'resolved'")
            worked_feed.put("vitals", Vitals(job="wm-64", attempt=1, step=18_450, time=end + 90, values={"loss": 7.77}))
            await tab.until("document.querySelector('[data-signal=loss] .signal-value').innerText === '7.77'")

    asyncio.run(look())


OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('.flag')].map((flag) => flag.getBoundingClientRect());
  return boxes.some((a, i) => boxes.some((b, k) =>
    i < k && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
})()"""


def test_flags_hide_no_other(shared_feed: Feed, browser: Browser) -> None:
    """However close the marks are, each flag can be read."""

    async def look() -> None:
        async with browser.open(shared_feed.url) as tab:
            await tab.until(STANDS)
            await tab.until("document.querySelectorAll('.flag').length >= 4")
            assert not await tab.value(OVERLAPS)

    asyncio.run(look())


def test_a_paused_page_stands_still(worked_feed: Feed, browser: Browser, incident: Callable[..., Incident]) -> None:
    """While paused the curves do not move, but incidents still arrive."""

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            await tab.click("#live")
            assert await tab.text("#live") == "Paused"
            before = await tab.text("[data-signal=loss] .signal-value")
            worked_feed.put(
                "vitals", Vitals(job="wm-64", attempt=1, step=18_400, time=START + 4_000, values={"loss": 7.0})
            )
            await tab.until("document.querySelector('#place').innerText.endsWith('18,400')")
            worked_feed.put("incidents", incident(id="inc-new", title="Another one"))
            await tab.until("document.querySelector('.incident-title').innerText === 'Another one'")
            assert await tab.text("[data-signal=loss] .signal-value") == before

    asyncio.run(look())


HOSTILE = '<img src=x onerror="window.harmed = true"><script>window.harmed = true</script>'


def test_whatever_comes_in_is_text(worked_feed: Feed, browser: Browser, incident: Callable[..., Incident]) -> None:
    """Markup in titles, causes, evidence and names is shown letter by letter and never becomes an element."""
    evidence = (Evidence(status="established", text=HOSTILE, layer="data"),)
    hostile = incident(revision=3, title=HOSTILE, cause=HOSTILE, evidence=evidence, acknowledged_by=HOSTILE)
    worked_feed.put("incidents", hostile)
    worked_feed.put("vitals", Vitals(job="wm-64", attempt=1, step=18_400, time=START + 4_000, values={HOSTILE: 1.0}))

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            assert HOSTILE in await tab.text("#head")
            assert HOSTILE in await tab.text("#details")
            assert not await tab.value("'harmed' in window")
            assert await tab.value("document.querySelectorAll('main img, main script').length") == 0
            assert tab.complaints == []

    asyncio.run(look())


OTHER = "document.querySelector('.incident:not([aria-current=true])')"


def test_an_address_is_a_view(shared_feed: Feed, browser: Browser) -> None:
    """What is chosen stands in the address, and the address opens the same view, axis included."""

    async def look() -> None:
        async with browser.open(shared_feed.url) as tab:
            await tab.until(STANDS)
            wanted = await tab.value(f"{OTHER}.querySelector('.incident-title').innerText")
            await tab.value(f"{OTHER}.click()")
            await tab.until(f"document.querySelector('#head h2').innerText === {wanted!r}")
            await tab.click("#by-time")
            address = await tab.until(
                "location.hash.includes('axis=time') && location.hash.includes('incident=') && location.href"
            )
        async with browser.open(address) as tab:
            await tab.until(STANDS)
            assert await tab.text("#head h2") == wanted
            await tab.until("document.querySelector('#by-time').getAttribute('aria-pressed') === 'true'")

    asyncio.run(look())


def test_keys_zoom_and_a_key_shows_all_again(shared_feed: Feed, browser: Browser) -> None:
    """The time line is reachable and movable without a mouse."""
    press = (
        "document.querySelector('#strips').dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', bubbles: true}}))"
    )

    async def look() -> None:
        async with browser.open(shared_feed.url) as tab:
            await tab.until(STANDS)
            await tab.value("document.querySelector('#strips').focus()")
            assert await tab.value("document.activeElement.id") == "strips"
            for key in ("+", "ArrowRight", "-"):
                await tab.value(press.format(key))
                await tab.until("!document.querySelector('#fit').hidden")
            await tab.value(press.format("0"))
            await tab.until("document.querySelector('#fit').hidden")

    asyncio.run(look())


def test_a_lost_loss_is_seen(worked_feed: Feed, browser: Browser) -> None:
    """When the latest loss is not a number the legend says so, and the cross stands in the strip."""
    lost = Vitals(job="wm-64", attempt=1, step=18_400, time=START + 4_000, values={"loss": math.nan})

    async def look() -> None:
        async with browser.open(worked_feed.url) as tab:
            await tab.until(STANDS)
            shot = "document.querySelector('.strip canvas').toDataURL()"
            before = await tab.value(shot)
            worked_feed.put("vitals", lost)
            await tab.until("document.querySelector('[data-signal=loss] .signal-value').innerText === 'not finite'")
            assert await tab.value(shot) != before

    asyncio.run(look())


def test_a_guarded_page_asks_for_the_token(guarded_feed: Feed, browser: Browser) -> None:
    """Without the token nothing is shown; a wrong one is asked for again; the right one stays in this tab alone."""

    async def look() -> None:
        async with browser.open(guarded_feed.url) as tab:
            await tab.until("document.querySelector('dialog [name=token]')")
            assert await tab.value("document.querySelectorAll('.incident').length") == 0
            await tab.sign(token="wrong")
            await tab.until(
                "document.querySelector('dialog').open && !document.querySelector('dialog [name=token]').value"
            )
            await tab.sign(token=TOKEN)
            await tab.until(STANDS)
            assert TOKEN not in await tab.value("location.href + document.cookie + JSON.stringify(localStorage)")
            assert TOKEN in await tab.value("JSON.stringify(sessionStorage)")

    asyncio.run(look())


def test_an_empty_installation_says_so(feed: Feed, browser: Browser) -> None:
    """Before the first job the page stands, calm, and wakes up when one appears."""

    async def look() -> None:
        async with browser.open(feed.url) as tab:
            await tab.until("document.querySelector('#live').innerText === 'Live'")
            assert "No incidents" in await tab.text("#incidents")
            assert await tab.text("#place") == "no job yet"
            assert tab.complaints == []
            feed.put(
                "vitals", *(Vitals(job="a", attempt=1, step=n, time=START + n, values={"loss": 2.0}) for n in range(9))
            )
            await tab.until("document.querySelector('#place').innerText === 'attempt 1 · step 8'")
            await tab.until("document.querySelector('[data-signal=loss] .signal-value')?.innerText === '2'")
            assert tab.complaints == []

    asyncio.run(look())
