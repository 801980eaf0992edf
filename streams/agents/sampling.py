"""Asking the sources of the node: each in a thread of its own, so that one that hangs stops no other."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from msgspec import Struct

from streams.agents.finding import Finding, Source


class Gap(Struct, frozen=True):
    """A source that gave nothing, and why."""

    source: str
    reason: str


class Sampling:
    """Asks every source in turn.

    Args:
        sources: what to ask, by name.
        patience: seconds to wait for an answer. One that takes longer is waited for no more: it is asked again only
            after it has answered, and the others go on as before.
    """

    def __init__(self, sources: Mapping[str, Source], patience: float = 5.0) -> None:
        self._sources, self._patience = dict(sources), patience
        self._running: dict[str, asyncio.Future[Sequence[Finding]]] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of the sources."""
        return frozenset(self._sources)

    async def take(self) -> tuple[list[Finding], list[Gap]]:
        """Give the findings of the sources that answered, and the gaps of those that did not."""
        asked = [name for name in self._sources if name not in self._running]
        for name in asked:
            self._running[name] = asyncio.wrap_future(in_the_background(self._sources[name], f"source {name}"))
        if asked:
            await asyncio.wait([self._running[name] for name in asked], timeout=self._patience)
        findings: list[Finding] = []
        gaps: list[Gap] = []
        for name, answer in list(self._running.items()):
            if not answer.done():
                gaps.append(Gap(name, self._stuck(name)))
                continue
            del self._running[name]
            try:
                findings += answer.result()
            except OSError as fault:
                gaps.append(Gap(name, str(fault) or type(fault).__name__))
        return findings, gaps

    def close(self) -> None:
        """Wait for nobody any more."""
        for answer in self._running.values():
            answer.cancel()

    def _stuck(self, name: str) -> str:
        doing = getattr(self._sources[name], "doing", "")  # what it is waiting for, where a source says so
        return f"no answer: {doing}" if doing else "no answer"


def in_the_background(work: Callable[[], Sequence[Finding]], name: str) -> Future[Sequence[Finding]]:
    """Run something in a thread that nobody waits for at the end of the process, as a pool's threads are waited for."""
    future: Future[Sequence[Finding]] = Future()

    def run() -> None:
        try:
            found = work()
        except BaseException as fault:  # noqa: BLE001 - it is raised again where the result is taken
            if future.set_running_or_notify_cancel():
                future.set_exception(fault)
        else:
            if future.set_running_or_notify_cancel():  # else the agent has ended meanwhile
                future.set_result(found)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
