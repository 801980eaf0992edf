"""The same call from several threads at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def at_once(number: int, call: Callable[[int], T]) -> list[T]:
    """Call from so many threads, each with its own number, when all of them are there; give what each was told."""
    together = threading.Barrier(number)

    def arrive(who: int) -> T:
        together.wait(10.0)
        return call(who)

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(arrive, range(number)))
