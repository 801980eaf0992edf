"""A source at its own pace, however often the agent looks."""

from collections.abc import Callable, Sequence

from streams.agents.finding import Finding, Source
from streams.clock import monotonic_seconds


class Paced:
    """Asks a source when it is time, and gives nothing in between; one that failed is asked again at its time too.

    Args:
        every: seconds from one question to the next.
        clock: gives seconds that never go back.
    """

    def __init__(self, source: Source, every: float, clock: Callable[[], float] = monotonic_seconds) -> None:
        self._source, self._every, self._clock = source, every, clock
        self._asked = float("-inf")

    def __call__(self) -> Sequence[Finding]:
        """Look once, if it is time."""
        now = self._clock()
        if now - self._asked < self._every:
            return []
        self._asked = now
        return self._source()
