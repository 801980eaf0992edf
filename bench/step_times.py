"""Yardstick A: stalls (told and blind), level shifts and loss spikes on step times of real runs."""

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from msgspec import Struct, structs

from bench.command import main_on
from bench.peers import online_alarms, river
from bench.replicates import Group, groups
from bench.table import Table
from detectors.base import Flags, Floats
from detectors.robust import median
from schemas.signals import signal_named
from streams.detecting import Series, detect

NEAR = 5
"""Steps by which an alarm may be beside a stall."""
WITHIN = 60
"""Steps in which a shift, or the end of a slow stretch, is found."""
MERGED = 30
"""Alarms nearer than this are one episode."""
ALTERNATE = 1.33
"""Times that every other step is longer where a pattern is put in."""
SETTLED = 300
"""The loss is judged from this step on."""

Rows = dict[int, list[int]]
"""Per run, the steps in which it alarmed."""
Alarms = Callable[[Group], Rows]


class Tally(Struct):
    """What came of some runs."""

    rows: int = 0
    there: int = 0
    found: int = 0
    false: int = 0
    delays: list[int] = []

    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.found / max(self.found + self.false + self.there, 1)

    def false_per_thousand(self) -> float:
        """False episodes per 1,000 steps."""
        return 1000 * self.false / max(self.rows, 1)

    def delay(self) -> float | str:
        """Median steps from onset to alarm, where that is counted."""
        return float(np.median(self.delays)) if self.delays else "–"


def ours(detector: str, signal: str, of: str) -> Alarms:
    """Alarms as `detect --detector ... --signal ...` raises them, each run a column, the step as clock."""

    def alarms(group: Group) -> Rows:
        rows: Floats = getattr(group, of)
        scale = 0.001 if of == "steps" else 1.0
        cells = [[None if np.isnan(x) else float(x) for x in row] for row in scale * rows]
        said = detect(Series(tuple(map(str, group.runs)), cells), (detector,), signal_named(signal))
        return {run: sorted({int(one["index"]) for one in said[str(run)].alarms}) for run in group.runs}

    return alarms


def peer(make: Callable[[], object]) -> Alarms:
    """Alarms of a drift detector of river on the step times."""
    return lambda group: {
        run: online_alarms(make, column)  # type: ignore[arg-type]
        for run, column in zip(group.runs, group.steps.T, strict=True)
    }


def simple_rule(times: float, group: Group) -> Rows:
    """Alarm on a step over so many times the median of the thirty before."""
    padded = np.concatenate((np.full((30, len(group.runs)), np.nan), group.steps[:-1]))
    past = median(np.lib.stride_tricks.sliding_window_view(padded, 30, axis=0))
    return {run: np.flatnonzero(group.steps[:, at] > times * past[:, at]).tolist() for at, run in enumerate(group.runs)}


def standing_out(group: Group) -> Rows:
    """Know the stalls and alarm on each that is a tenth over the median of the thirty before: what a run shows of them.

    No detector; it says how many of the stalls could be found at all in the run in which they are.
    """
    seen = simple_rule(1.1, group)
    return {
        run: [row for row in seen[run] if any(step <= row < step + count for step, count in group.stalls[run])]
        for run in group.runs
    }


def stalls(some: list[Group], alarms: Alarms, told: bool, after: int = 0) -> Tally:
    """Hold alarms against the stalls on which replicates agree.

    Args:
        some: groups of one kind.
        alarms: what alarmed.
        told: planned steps are taken for announced: they neither count nor cost.
        after: and so many steps after each of them.
    """
    tally = Tally()
    for group in some:
        raised = alarms(group)
        announced = _announced(group.planned, after) if told else np.zeros_like(group.planned)
        for place, run in enumerate(group.runs):
            tally.rows += int(np.count_nonzero(~np.isnan(group.steps[:, place])))
            there = [one for one in group.stalls[run] if not announced[one[0] : one[0] + one[1]].any()]
            rows = [row for row in raised[run] if not announced[row]]
            found = {one for one in there for row in rows if one[0] - NEAR <= row <= one[0] + one[1] + NEAR}
            tally.there += len(there)
            tally.found += len(found)
            tally.false += _false(rows, [*((s - NEAR, s + n + NEAR) for s, n in there), *_slow(group, run)])
    return tally


def alternating(group: Group) -> Group:
    """Put work on alternate steps into runs that have none, a third of a step; what is a stall stays one."""
    steps = group.steps.copy()
    steps[::2] *= ALTERNATE
    return structs.replace(group, steps=steps)


def _announced(planned: Flags, after: int) -> Flags:
    announced = planned.copy()
    for later in range(1, after + 1):
        announced[later:] |= planned[:-later]
    return announced


def _slow(group: Group, run: int) -> list[tuple[int, int]]:
    return [(step, step + count + WITHIN) for step, count in group.slow[run]]


def _false(rows: list[int], explained: list[tuple[int, int]]) -> int:
    """Count episodes of alarms that nothing explains."""
    false, last = 0, -MERGED - 1
    for row in rows:
        if not any(begin <= row <= end for begin, end in explained):
            false += row - last > MERGED
            last = row
    return false


def shifts(some: list[Group], alarms: Alarms) -> Tally:
    """Hold alarms against the planned changes of level."""
    tally = Tally()
    for group in some:
        raised = alarms(group)
        for place, run in enumerate(group.runs):
            tally.rows += int(np.count_nonzero(~np.isnan(group.steps[:, place])))
            tally.there += len(group.shifts)
            explained = _slow(group, run)
            for shift in group.shifts:
                after = [row for row in raised[run] if 0 <= row - shift <= WITHIN]
                tally.delays += [row - shift for row in after[:1]]
                tally.found += bool(after)
                explained += [(row, row) for row in after[:1]]
            tally.false += _false(raised[run], explained)
    return tally


def spikes(some: list[Group], alarms: Alarms) -> Tally:
    """Hold alarms against the loss spikes that all replicates show."""
    tally = Tally()
    for group in some:
        raised = alarms(group)
        for place, run in enumerate(group.runs):
            tally.rows += int(np.count_nonzero(~np.isnan(group.losses[SETTLED:, place])))
            there = [step for step in group.spikes[run] if step > SETTLED]
            rows = [row for row in raised[run] if row > SETTLED]
            tally.there += len(there)
            tally.found += sum(any(0 <= row - step <= NEAR for row in rows) for step in there)
            tally.false += _false(rows, [(step, step + MERGED) for step in there])
    return tally


def _row(task: str, method: str, tally: Tally) -> tuple[str | float | int, ...]:
    recall = tally.found / max(tally.there, 1)
    return task, method, tally.there, tally.f1(), recall, tally.false_per_thousand(), tally.delay()


def run(data: Path) -> Table:
    """Score ours and the peers on the visible groups."""
    every = groups(data / "nanogpt-speedrun")
    stall = ours("slow_step", "step_seconds", "steps")
    rows = []
    tracks = (("told", True, 0), ("told, with the step after a planned one", True, 1), ("blind", False, 0))
    methods: dict[str, Alarms] = {
        "detect": stall,
        **{f"{times} × median of 30": partial(simple_rule, times) for times in (1.2, 1.3, 1.5)},
        "the truth, where it stands out": standing_out,
    }
    flat = [g for g in every if not g.periodic]
    kinds = {
        "flat": flat,
        "periodic": [g for g in every if g.periodic],
        "flat made periodic": [alternating(g) for g in flat],
    }
    for kind, some in kinds.items():
        for (track, told, after), (method, alarms) in product(tracks if some else (), methods.items()):
            rows.append(_row(f"stalls, {track}, {kind}", method, stalls(some, alarms, told, after)))
    rows.append(_row("level shifts", "detect", shifts(every, ours("level_shift", "step_seconds", "steps"))))
    for name in ("ADWIN", "PageHinkley"):
        made = river("drift", name)
        if made:
            rows.append(_row("level shifts", f"river {name}", shifts(every, peer(made))))
    rows.append(_row("loss spikes", "detect", spikes(every, ours("spike", "loss", "losses"))))
    columns = ("task", "method", "there", "F1", "recall", "false per 1,000", "median delay")
    what = f"{len(every)} groups of replicate runs; truth is what replicates agree on"
    return Table("step_times", what, columns, tuple(rows))


if __name__ == "__main__":
    main_on(run)
