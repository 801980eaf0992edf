"""Taking samples of the node: every source in a thread of its own, so that one that hangs stops no other."""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from schemas.telemetry import Entity, Reading


class Sample(Struct, frozen=True, kw_only=True):
    """Readings of some things of one kind; the agent makes a `schemas.telemetry.SampleFrame` of it.

    Attributes:
        of: what kind of thing the ids name.
        ids: names, in the order of every list in `values`; empty means the node itself.
        ranks: their ranks where known.
        values: signal -> one reading for each.
    """

    of: Entity
    ids: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    values: dict[str, list[Reading]] = field(default_factory=dict)


Source = Callable[[], Sequence[Sample]]
"""Looks once; may block. What it cannot read it leaves out; OSError means that it can read nothing."""


class Gap(Struct, frozen=True):
    """A source that gave nothing, and why."""

    source: str
    reason: str


class Sampling:
    """Asks every source in turn.

    Args:
        sources: what to ask, by name.
        patience: seconds to wait for an answer; one that takes longer is asked again only after it has answered.
    """

    def __init__(self, sources: dict[str, Source], patience: float = 5.0) -> None:
        self._sources, self._patience = sources, patience
        self._running: dict[str, asyncio.Task[Sequence[Sample]]] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of the sources."""
        return frozenset(self._sources)

    async def take(self) -> tuple[list[Sample], list[Gap]]:
        """Give the samples of the sources that answered, and the gaps of those that did not."""
        for name, source in self._sources.items():
            if name not in self._running:
                self._running[name] = asyncio.create_task(asyncio.to_thread(source))
        if self._running:
            await asyncio.wait(self._running.values(), timeout=self._patience)
        samples: list[Sample] = []
        gaps: list[Gap] = []
        for name, task in list(self._running.items()):
            if not task.done():
                gaps.append(Gap(name, "no answer"))
                continue
            del self._running[name]
            try:
                samples += task.result()
            except OSError as fault:
                gaps.append(Gap(name, type(fault).__name__))
        return samples, gaps
