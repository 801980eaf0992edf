"""A real browser without a window, driven over its DevTools socket."""

import asyncio
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

Json = Any  # what JSON holds
PROGRAM = shutil.which("chromium")
STANDS = "document.querySelectorAll('.strip canvas').length === 4 && !document.querySelector('#head').hidden"
"""An expression: the page has drawn an incident and its strips."""
DEADLINE_SECONDS = 30.0
LOOK_SECONDS = 0.05
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)


class Tab:
    """One page. `complaints` collects what the browser logged as an error and every uncaught exception."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.complaints: list[str] = []

    async def call(self, method: str, **parameters: Json) -> Json:
        """Make one DevTools call."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json(timeout=DEADLINE_SECONDS)
            self._note(message)
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    async def value(self, script: str) -> Json:
        """Give the value of an expression in the page."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, script: str) -> Json:
        """Wait until an expression is true; give its value. While the page is being made it may well fail."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        safe = f"try {{ const v = {script}; return v instanceof Element ? true : v; }} catch {{ return false; }}"
        while not (value := await self.value(f"(() => {{ {safe} }})()")):
            assert time.monotonic() < deadline, f"never true: {script}; complaints: {self.complaints}"
            await asyncio.sleep(LOOK_SECONDS)
        return value

    async def text(self, selector: str) -> str:
        """Give the text of an element, as it is seen."""
        return str(await self.until(f"document.querySelector({selector!r})?.innerText"))

    async def click(self, selector: str) -> None:
        """Press an element once it is there."""
        await self.until(f"Boolean(document.querySelector({selector!r}))")
        await self.value(f"document.querySelector({selector!r}).click()")

    async def sign(self, **fields: str) -> None:
        """Fill in the open dialog and confirm it."""
        await self.until("document.querySelector('dialog').open")
        for name, text in fields.items():
            await self.value(f"document.querySelector('dialog [name={name}]').value = {text!r}")
        await self.click("dialog button.main")

    def _note(self, message: Json) -> None:
        about = message.get("params", {})
        if message.get("method") == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.complaints.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"]))


class Browser:
    """A running browser."""

    def __init__(self, address: str) -> None:
        self._address = address

    @asynccontextmanager
    async def open(self, url: str, *, is_dark: bool = False) -> AsyncIterator[Tab]:
        """Open a page in a tab of its own."""
        async with aiohttp.ClientSession() as session:
            async with session.put(f"{self._address}/json/new?about:blank") as response:
                target = await response.json()
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
                await tab.call("Emulation.setEmulatedMedia", features=[scheme])
                size = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
                await tab.call("Emulation.setDeviceMetricsOverride", **size)
                await tab.call("Page.navigate", url=url)
                yield tab
            async with session.get(f"{self._address}/json/close/{target['id']}") as response:
                assert response.status == 200


@contextmanager
def running_browser(folder: Path) -> Iterator[Browser]:
    """Start a browser and end it afterwards."""
    assert PROGRAM is not None
    process = subprocess.Popen(
        [PROGRAM, *FLAGS, f"--user-data-dir={folder}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield Browser(f"http://127.0.0.1:{_port(folder / 'DevToolsActivePort', process)}")
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (file.exists() and file.read_text().count("\n")):
        assert process.poll() is None, "the browser ended at once"
        assert time.monotonic() < deadline, "the browser did not open its socket"
        time.sleep(LOOK_SECONDS)
    return int(file.read_text().splitlines()[0])
