"""One clock for all that is done now and then: who waits for the same moment is woken together."""

import asyncio

_EARLY = 0.1
"""Share of an interval by which a timer may be early: what is left of the interval then is no wait of its own."""


class Beat:
    """Lets everybody rest until whole multiples of their intervals, so that a node is woken as seldom as can be.

    Attributes:
        is_stopped: whether nobody rests any more.
    """

    def __init__(self) -> None:
        self.is_stopped = False
        self._end: asyncio.Future[None] | None = None

    def stop(self) -> None:
        """Wake everybody for the last time."""
        self.is_stopped = True
        if self._end is not None and not self._end.done():
            self._end.set_result(None)

    async def rest(self, seconds: float) -> bool:
        """Wait for the next multiple of so many seconds; True once it is stopped, which ends the wait."""
        if self.is_stopped:
            return True
        loop = asyncio.get_running_loop()
        if self._end is None:
            self._end = loop.create_future()
        await asyncio.wait({self._end}, timeout=_left(loop.time(), seconds))
        return self.is_stopped


def _left(now: float, seconds: float) -> float:
    """Give the time to the next multiple.

    >>> _left(10.25, 0.5), _left(10.49, 0.5), _left(10.25, 0.0)
    (0.25, 0.51, 0.0)
    """
    left = seconds - now % seconds if seconds else 0.0
    return round(left if left >= _EARLY * seconds else left + seconds, 6)
