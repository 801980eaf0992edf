"""Runs the targets one after the other from numbered seeds, and tells every seed at which one failed."""

import contextlib
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType

from msgspec import Struct

from streams.clock import monotonic_seconds
from tests.fuzz import followers, readers

Target = Callable[[Random], int]
"""Makes one attempt; gives the lines it read, and raises what should not be."""
SHARES = {
    "logs": 12, "log_files": 4, "rank_lines": 8, "rank_files": 2, "events": 3, "dumps": 2, "exporters": 1,
    "messages": 2, "telemetry": 2,
}  # fmt: skip
"""How often each target has its turn in a round."""
LONGEST_SECONDS = 10.0
"""Of one attempt: what takes longer hangs, as an expression does that tries too many ways."""


class Failure(Struct, frozen=True):
    """What a seed brought to light."""

    target: str
    seed: int
    fault: str


class Campaign:
    """What was tried and what failed.

    Attributes:
        attempts: by target.
        lines: by target.
        failures: the first of each kind.
        failed: all, by the place they came from.
        slowest: by target, the seconds of the attempt that took longest, and its seed.
    """

    def __init__(self) -> None:
        self.attempts: Counter[str] = Counter()
        self.lines: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self.failed: Counter[str] = Counter()
        self.slowest: dict[str, tuple[float, int]] = {}

    def attempt(self, name: str, target: Target, seed: int) -> None:
        """Let one target try one seed."""
        self.attempts[name] += 1
        begin = monotonic_seconds()
        try:
            with _limited(LONGEST_SECONDS):
                self.lines[name] += target(Random(f"{name} {seed}"))
        except Exception as fault:  # noqa: BLE001 - whatever comes is what is looked for
            place = f"{name}: {type(fault).__name__} at {traceback.extract_tb(fault.__traceback__)[-1][:2]}"
            self.failed[place] += 1
            if self.failed[place] == 1:
                told = "".join(traceback.format_exception(fault)[-8:])
                self.failures.append(Failure(name, seed, told[-4000:]))
        self.slowest[name] = max(self.slowest.get(name, (0.0, seed)), (monotonic_seconds() - begin, seed))


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer; in the main thread alone."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"still at it after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def targets() -> Iterator[dict[str, Target]]:
    """Give all targets, with a folder for those that need one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield {
            "logs": readers.logs,
            "log_files": partial(followers.log_files, folder=folder),
            "rank_lines": readers.rank_lines,
            "rank_files": partial(followers.rank_files, folder=folder),
            "events": readers.events,
            "dumps": partial(readers.dumps, folder=folder),
            "exporters": readers.exporters,
            "messages": readers.messages,
            "telemetry": readers.telemetry,
        }


def rounds(campaign: Campaign, seed: int, goes_on: Callable[[], bool]) -> int:
    """Run rounds as long as it goes on; give the seed after the last."""
    with targets() as all_targets:
        while goes_on():
            for name, share in SHARES.items():
                for _ in range(share):
                    campaign.attempt(name, all_targets[name], seed)
                    seed += 1
    return seed
