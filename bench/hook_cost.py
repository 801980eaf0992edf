"""What the trainer's hook costs a training step, in nanoseconds of the training thread and of the whole process."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.table import Table
from streams.agents.trainer import Hook

STEPS, BATCH = 20_000, 100


def full_step(hook: Hook, step: int) -> None:
    """One step as a trainer writes it: a part, and four values of the job."""
    with hook.step(step) as s:
        with s.loading():
            pass
        s.log(loss=2.3125, grad_norm=0.31, tokens=1048576, learning_rate=3e-4)


def bare_step(hook: Hook, step: int) -> None:
    """One step without parts and values."""
    with hook.step(step):
        pass


def bare_sample(hook: Hook, step: int) -> None:
    """One record alone."""
    hook.sample("mount", "/data", storage_retries_total=step)


def nanoseconds(call: Callable[[Hook, int], None], folder: Path) -> tuple[float, float, float]:
    """Give the median and the 99th percentile of one call, and the processor time of the writing thread for each."""
    hook = Hook(str(folder), job=call.__name__, rank=0)
    spent, beside = [], 0
    for step in range(STEPS):
        begin = time.perf_counter_ns()
        call(hook, step)
        spent.append(time.perf_counter_ns() - begin)
        if step % BATCH == BATCH - 1:  # what the thread does meanwhile is made here, and measured
            begin = time.process_time_ns()
            hook.flush()
            beside += time.process_time_ns() - begin
    if hook.dropped or hook.failed:
        raise SystemExit(f"{hook.dropped} records dropped, {hook.failed} calls failed: the figures mean nothing")
    spent.sort()
    return spent[len(spent) // 2], spent[len(spent) * 99 // 100], beside / STEPS


def run() -> Table:
    """Measure the three, each with a control file to look at."""
    rows: list[tuple[str | int, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for call in (full_step, bare_step, bare_sample):
            control = Path(folder, call.__name__, "control.json")
            control.parent.mkdir()
            control.write_text('{"job":"j","attempt":1,"version":1,"settings":{}}')
            rows.append((call.__name__, *(round(each) for each in nanoseconds(call, Path(folder)))))
    what = f"ns a call of the trainer's hook, {STEPS:,} calls each"
    return Table("hook_cost", what, ("call", "median", "99 %", "of the writing thread"), tuple(rows))
