"""Waiting for something to come true, with a limit and a complaint; no test sleeps for luck."""

import time
from collections.abc import Callable


def until(holds: Callable[[], object], seconds: float, complaint: str) -> None:
    """Wait for a condition; fail with a complaint when it does not come true."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{complaint} within {seconds:g} s"
        time.sleep(0.05)
