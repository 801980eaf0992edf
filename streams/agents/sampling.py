"""Asking the sources of the node in the background, so that one that hangs stops no other."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from msgspec import Struct

from streams.agents.background import Background, answer
from streams.agents.finding import Finding, Source
from streams.clock import monotonic_seconds

_PROMPT_SHARE = 0.05
"""Of the patience: what a look at all sources takes; who takes longer is waited for beside the others."""


class Gap(Struct, frozen=True):
    """A source that gave nothing, and why."""

    source: str
    reason: str


class Sampling:
    """Asks every source in turn.

    One thread asks all, since a thread costs more than most looks; where one takes long, a further one goes on with
    the others.

    Args:
        sources: what to ask, by name.
        patience: seconds to wait for an answer. One that takes longer is waited for no more: it is asked again only
            after it has answered, and the others go on as before.
        background: the threads.
    """

    def __init__(
        self, sources: Mapping[str, Source], patience: float = 5.0, background: Background | None = None
    ) -> None:
        self._sources, self._patience = dict(sources), patience
        self._background = background or Background("sources")
        self._running: dict[str, Future[Sequence[Finding]]] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of the sources."""
        return frozenset(self._sources)

    async def take(self) -> tuple[list[Finding], list[Gap]]:
        """Give the findings of the sources that answered, and the gaps of those that did not."""
        left = deque(name for name in self._sources if name not in self._running)
        self._running |= {name: Future() for name in left}
        await self._ask(left)
        while left:  # all threads hang: these were not asked
            del self._running[left.popleft()]
        findings: list[Finding] = []
        gaps: list[Gap] = []
        for name, said in list(self._running.items()):
            if not said.done():
                gaps.append(Gap(name, self._stuck(name)))
                continue
            del self._running[name]
            try:
                findings += said.result()
            except OSError as fault:
                gaps.append(Gap(name, str(fault) or type(fault).__name__))
        return findings, gaps

    def close(self) -> None:
        """Wait for nobody any more."""
        for said in self._running.values():
            said.cancel()

    async def _ask(self, left: deque[str]) -> None:
        """Ask those that are left, in as many threads as it takes to get to all; wait while there is patience."""
        end, prompt = monotonic_seconds() + self._patience, _PROMPT_SHARE * self._patience
        threads: set[asyncio.Future[None]] = set()
        while (rest := end - monotonic_seconds()) > 0:
            if left:
                threads.add(asyncio.wrap_future(self._background.do(lambda: self._work(left))))
            elif not threads:
                return
            _, threads = await asyncio.wait(threads, timeout=min(rest, prompt) if left else rest)

    def _work(self, left: deque[str]) -> None:
        while True:
            try:
                name = left.popleft()
            except IndexError:
                return
            answer(self._running[name], self._sources[name])

    def _stuck(self, name: str) -> str:
        doing = getattr(self._sources[name], "doing", "")  # what it is waiting for, where a source says so
        return f"no answer: {doing}" if doing else "no answer"
