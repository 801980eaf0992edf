"""A thread that ends the process when its event loop no longer turns: whoever is stuck cannot say so."""

import asyncio
import os
import sys
import threading

from streams.clock import monotonic_seconds

EXIT_CODE = 70
LOOK_SECONDS = 1.0


class LoopGuard:
    """Ends a process whose loop has stood still.

    Args:
        seconds: for which the loop may stand still.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._turned = monotonic_seconds()
        self._ending = threading.Event()

    async def turn(self) -> None:
        """Show that the loop turns, for ever."""
        threading.Thread(target=self._watch, name="loop-guard", daemon=True).start()
        try:
            while True:
                self._turned = monotonic_seconds()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._ending.set()

    def _watch(self) -> None:
        while not self._ending.wait(LOOK_SECONDS):
            still = monotonic_seconds() - self._turned
            if still > self._seconds:
                print(f"trainmaster: the event loop stood still for {still:.0f} s", file=sys.stderr, flush=True)  # noqa: T201
                os._exit(EXIT_CODE)


def end_in(seconds: float) -> None:
    """End the process with a failure after so many seconds, whatever it is doing then."""
    timer = threading.Timer(seconds, os._exit, args=(1,))
    timer.daemon = True
    timer.start()
