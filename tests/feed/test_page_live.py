"""The page beside a job that really runs: the whole service, the simulated 64-GPU job, a real browser."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from schemas.action import Mode
from streams.agents.simulated import SimulatedAgent, seeded
from streams.serve import Service
from streams.settings import Settings
from tests.feed.browser import PROGRAM, STANDS, Browser, Tab

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on this machine: the page was NOT tested"),
]
SPEED = 40.0
MODES: dict[str, Mode] = {"loader-to-nvme-cache": "ask", "checkpoint-off-the-critical-path": "act"}
STEP = "Number((/step ([\\d,]+)/.exec(document.querySelector('#place').innerText) ?? [0, '0'])[1].replaceAll(',', ''))"
CURVES = "[...document.querySelectorAll('.strip canvas')].map((canvas) => canvas.toDataURL()).join()"
COLOURS = (
    "[...document.querySelectorAll('.strip canvas')].map((c) => new Set(new Uint32Array("
    "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)"
)


async def _beside_the_job(service: Service, browser: Browser, watch: Callable[[Tab], Awaitable[None]]) -> None:
    """Serve, open the page, let the job run, and watch until the watching is done."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    tasks: list[asyncio.Task[object]] = [asyncio.create_task(service.run(address.set_result))]
    try:
        async with browser.open(await address) as tab:
            await tab.until("document.querySelector('#incidents').innerText.includes('No incidents')")
            tasks.append(asyncio.create_task(SimulatedAgent(seeded("brief64", 1), await address, speed=SPEED).run()))
            await watch(tab)
    finally:
        for job in tasks[1:]:
            job.cancel()
        service.stop()
        await asyncio.wait(tasks)


async def _grows(tab: Tab) -> None:
    """Wait until the step in the bar and the curves have moved on by themselves."""
    step, curves = await tab.value(STEP), await tab.value(CURVES)
    await tab.until(f"{STEP} > {step} + 20")
    await tab.value(f"window.earlier = {curves!r}")
    await tab.until(f"{CURVES} !== window.earlier")


async def _watch(tab: Tab) -> None:
    await tab.until("document.querySelector('[data-signal=loss] .signal-value')")
    await _grows(tab)
    await tab.until(STANDS)
    assert await tab.value("document.querySelectorAll('.incident').length") == 1
    await tab.until("document.querySelector('#head').innerText.includes('loader starved by storage')")
    await _grows(tab)
    assert min(await tab.value(COLOURS)) > 20
    await tab.click(".question button.main")
    await tab.sign(by="ann")
    await tab.until("[...document.querySelectorAll('.flag')].some((f) => f.innerText === 'loader.use_cache verified')")
    await tab.until("document.querySelector('.incident .state').innerText === 'resolved'")
    assert "approved by ann" in await tab.text("#details")
    assert tab.complaints == []


def test_a_job_is_watched_and_helped_while_it_runs(tmp_path: Path, browser: Browser) -> None:
    """Curves, incident, question, proof and end arrive by themselves; the approval given on the page cures the job."""
    service = Service(Settings(state=tmp_path, port=0, modes=MODES, tick=2.0, snapshot=5.0))
    asyncio.run(_beside_the_job(service, browser, _watch))
