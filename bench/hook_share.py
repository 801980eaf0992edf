"""Which share of a step's time the trainer's hook takes, in a loop that works as long as a small training step."""

import statistics
import tempfile
import time

import numpy as np

from bench.table import Table
from streams.agents.trainer import Hook

STEPS = 300


def work(milliseconds: float, matrix: np.ndarray) -> np.ndarray:
    """Multiply for so long."""
    end = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < end:
        matrix = np.tanh(matrix @ matrix)
    return matrix


def share(milliseconds: float) -> tuple[float, float]:
    """Train; give the share of the loop that was not work: of the middle step, and of all of them together.

    On a busy machine the second holds the times at which others ran, too.
    """
    matrix = np.full((64, 64), 0.01)
    outside: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        hook = Hook(folder, "bench", 0)
        for step in range(STEPS):
            begin = time.perf_counter()
            with hook.step(step) as s:
                with s.loading():
                    pass
                at = time.perf_counter()
                matrix = work(milliseconds, matrix)
                worked = time.perf_counter() - at
                s.log(loss=1.0, grad_norm=0.3, tokens=1024)
            outside.append(time.perf_counter() - begin - worked)
    seconds = milliseconds / 1000
    middle = statistics.median(outside)
    return middle / (middle + seconds), sum(outside) / (sum(outside) + STEPS * seconds)


def run() -> Table:
    """Measure steps of 5, 20 and 100 ms."""
    measured = {milliseconds: share(milliseconds) for milliseconds in (5, 20, 100)}
    rows = tuple((f"{step} ms", f"{middle:.3%}", f"{whole:.3%}") for step, (middle, whole) in measured.items())
    what = f"the hook's share of the time of {STEPS} steps"
    return Table("hook_share", what, ("step", "middle step", "all together"), rows)
