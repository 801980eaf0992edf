"""How the agent wakes: everybody at the same moments, and blocking work in threads that are used again."""

import asyncio
import threading
import time
from concurrent.futures import wait

import pytest

from streams.agents.background import Background
from streams.agents.beat import Beat
from tests.virtual_time import VirtualTime


def test_those_who_rest_wake_together() -> None:
    """Intervals that divide each other end at the same moment, though the rests began at different ones."""

    async def story() -> list[float]:
        beat, woken = Beat(), list[float]()

        async def rest(later: float, seconds: float) -> None:
            await asyncio.sleep(later)
            assert not await beat.rest(seconds)
            woken.append(asyncio.get_running_loop().time())

        await asyncio.gather(rest(0.01, 0.4), rest(0.05, 0.2), rest(0.1, 0.4), rest(0.25, 0.2))
        return woken

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        assert runner.run(story()) == pytest.approx([0.2, 0.4, 0.4, 0.4])


def test_stopping_ends_every_rest() -> None:
    """Who rests is woken by the stop, and who comes later does not rest any more."""

    async def story() -> None:
        beat = Beat()
        resting = [asyncio.create_task(beat.rest(3600.0)) for _ in range(3)]
        await asyncio.sleep(0)
        assert not beat.is_stopped
        beat.stop()
        assert await asyncio.wait_for(asyncio.gather(*resting), 5.0) == [True, True, True]
        assert await beat.rest(3600.0)

    asyncio.run(story())


def test_a_free_thread_is_used_again() -> None:
    """Work after work runs in one thread; what hangs keeps its thread, and the next work gets another."""
    background, hang = Background("test"), threading.Event()
    first = background.do(threading.get_ident).result(5.0)
    second = None
    for _ in range(100):  # the thread is free a moment after its answer
        second = background.do(threading.get_ident).result(5.0)
        if second == first:
            break
        time.sleep(0.01)
    assert second == first
    stuck = background.do(hang.wait)
    assert background.do(lambda: 7).result(5.0) == 7
    assert not stuck.done()
    hang.set()
    assert not wait([stuck], 5.0).not_done
    background.close()


def test_what_it_raises_comes_with_the_answer() -> None:
    """A fault in the work is the asker's, and the thread serves on."""
    background = Background("test")
    with pytest.raises(OSError, match="gone"):
        background.do(_fail).result(5.0)
    assert background.do(lambda: 7).result(5.0) == 7
    background.close()


def test_closing_ends_the_threads() -> None:
    """Threads that are free end, and one that is at work ends after it."""
    background, hang = Background("test that ends"), threading.Event()
    stuck = background.do(hang.wait)
    assert background.do(lambda: 7).result(5.0) == 7
    background.close()
    hang.set()
    assert stuck.result(5.0)
    for thread in threading.enumerate():
        if thread.name == "test that ends":
            thread.join(5.0)
            assert not thread.is_alive()


def _fail() -> None:
    raise OSError("gone")
