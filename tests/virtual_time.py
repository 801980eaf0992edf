"""An event loop whose time is made up: what sleeps is woken at once, at exactly the moment it asked for."""

import asyncio
import selectors


class _Skipping(selectors.DefaultSelector):
    """Skips the time that nobody has anything to do in."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTime(asyncio.SelectorEventLoop):
    """A loop that begins at zero and never waits for time to pass; pass it as `loop_factory` of `asyncio.Runner`."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Seconds since the loop began."""
        return self._skipping.now
