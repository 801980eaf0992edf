"""Which share of a step's time the trainer's hook takes: steps with and without it by turns, on the same work.

Three answers: what training spends in the hook's calls, the processor time of its writing thread, and the difference
between the steps with it and the steps without it. The last holds all effects, and the noise of the machine.
"""

import statistics
import tempfile
import time

import numpy as np
from msgspec import Struct, field

from bench.table import Table
from streams.agents.trainer import Hook

PAIRS = {5: 200, 20: 100, 100: 30}


class Spent(Struct):
    """Seconds of a run: in the hook's calls, and of steps with and without it, all by the training thread's clock."""

    calls: list[float] = field(default_factory=list)
    hooked: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


def rounds_of(milliseconds: float, matrix: np.ndarray) -> int:
    """Find how many rounds of work take so long."""
    begin, rounds = time.thread_time(), 2000
    work(rounds, matrix)
    return max(1, round(rounds * milliseconds / 1000 / (time.thread_time() - begin)))


def work(rounds: int, matrix: np.ndarray) -> np.ndarray:
    """Multiply so often."""
    for _ in range(rounds):
        matrix = np.tanh(matrix @ matrix)
    return matrix


def bare(rounds: int, matrix: np.ndarray, spent: Spent) -> None:
    """Train a step without the hook."""
    begin = time.thread_time()
    work(rounds, matrix)
    spent.bare.append(time.thread_time() - begin)


def hooked(hook: Hook, step: int, rounds: int, matrix: np.ndarray, spent: Spent) -> None:
    """Train a step with the hook."""
    begin = time.thread_time()
    with hook.step(step) as s:
        with s.loading():
            pass
        at = time.thread_time()
        work(rounds, matrix)
        worked = time.thread_time() - at
        s.log(loss=1.0, grad_norm=0.3, tokens=1024)
    spent.hooked.append(time.thread_time() - begin)
    spent.calls.append(spent.hooked[-1] - worked)


def shares(milliseconds: int, pairs: int) -> tuple[float, float, float]:
    """Give the share of the calls, of the writing thread, and the difference of the pairs."""
    matrix, spent = np.full((64, 64), 0.01), Spent()
    rounds = rounds_of(milliseconds, matrix)
    with tempfile.TemporaryDirectory() as folder:
        hook = Hook(folder, "bench", 0)
        beside = time.process_time() - time.thread_time()
        for step in range(pairs):
            if step % 2:
                bare(rounds, matrix, spent)
            hooked(hook, step, rounds, matrix, spent)
            if not step % 2:
                bare(rounds, matrix, spent)
        beside = time.process_time() - time.thread_time() - beside
        hook.flush()
        if hook.dropped or hook.failed:
            raise SystemExit(f"{hook.dropped} records dropped, {hook.failed} calls failed: the figures mean nothing")
    step_seconds = statistics.median(spent.bare)
    ratios = [one / other - 1 for one, other in zip(spent.hooked, spent.bare, strict=True)]
    return statistics.median(spent.calls) / step_seconds, beside / sum(spent.hooked), statistics.median(ratios)


def run() -> Table:
    """Measure steps of 5, 20 and 100 ms."""
    measured = {milliseconds: shares(milliseconds, pairs) for milliseconds, pairs in PAIRS.items()}
    rows = tuple((f"{step} ms", *(f"{share:.3%}" for share in found)) for step, found in measured.items())
    columns = ("step", "calls", "writing thread", "with it against without")
    return Table(
        "hook_share", f"the hook's share of a step's time, {sum(PAIRS.values())} pairs of steps", columns, rows
    )
