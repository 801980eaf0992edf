"""Work that may block, in threads that nobody waits for at the end of the process; one that is free is used again."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

_T = TypeVar("_T")
_Work = Callable[[], None]


class Background:
    """Runs each piece of work in a free thread, or in a new one where all are at work or hang.

    A new thread costs more than most looks at a node do, and a pool's threads are waited for when the process ends: a
    driver that hangs would keep it alive.

    Args:
        name: of the threads.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._free: list[SimpleQueue[_Work | None]] = []
        self._closed = False

    def do(self, work: Callable[[], _T]) -> Future[_T]:
        """Begin something; what it gives or raises comes with the future."""
        future: Future[_T] = Future()
        try:
            queue = self._free.pop()
        except IndexError:
            queue = self._start()
        queue.put(lambda: answer(future, work))
        return future

    def close(self) -> None:
        """Let the threads end, each when it is free."""
        self._closed = True
        while self._free:
            self._free.pop().put(None)

    def _start(self) -> "SimpleQueue[_Work | None]":
        queue: SimpleQueue[_Work | None] = SimpleQueue()
        threading.Thread(target=self._serve, args=(queue,), name=self._name, daemon=True).start()
        return queue

    def _serve(self, queue: "SimpleQueue[_Work | None]") -> None:
        while (work := queue.get()) is not None:
            work()
            del work  # what it holds is let go before the next one comes
            self._free.append(queue)
            if self._closed:
                self.close()


def answer(future: Future[_T], work: Callable[[], _T]) -> None:
    """Do something now, and put what it gives or raises into a future."""
    try:
        found = work()
    except BaseException as fault:  # noqa: BLE001 - it is raised again where the result is taken
        if future.set_running_or_notify_cancel():
            future.set_exception(fault)
    else:
        if future.set_running_or_notify_cancel():  # else nobody wants it any more
            future.set_result(found)
