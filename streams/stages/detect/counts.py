"""Errors that are counted: GPU memory, links and ports between the steps, repeated and skipped samples in them.

An error counter has no level worth the name: it stands still for weeks and then counts forty at once. So what counts
errors is held against its own past by `counter_rate`, while what is counted at a steady rate (retransmits, reads tried
again) is held against its rate by `level_shift`.
"""

import math
from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm, Floats, grow
from schemas.wording import amount, step_words
from streams.stages.detect import watched
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.episodes import Found, time_of
from streams.stages.detect.memory import Attempt, EntitySignal, JobCount

Finding = tuple[Alarm, Found]


def judge(name: str, known: EntitySignal, index: int, row: Floats, quiet: bool) -> list[Alarm]:
    """Hold the readings of one error counter against its past.

    Args:
        name: of the signal.
        known: what is remembered of it; changed in place.
        index: number of the moment.
        row: counts, shape (reporters,), NaN = no reading.
        quiet: nothing of this moment is normal or a fault: what was counted in it says nothing.
    """
    detector, row = watched.counter_rate(name), np.where(row >= 0, row, np.nan)
    if known.counter is None:
        known.counter = detector.blank(len(row))
    elif known.counter.width < len(row):
        known.counter = grow(detector, known.counter, len(row))
    if quiet:
        detector.go_on_from(known.counter, row)
        return []
    return detector.update(known.counter, index, row)


def sentence(name: str, alarm: Alarm, where: str, step: int | None) -> str:
    """Say how much was counted, and what was held to be possible by chance."""
    growth, limit = alarm.numbers["growth"], alarm.limit * watched.counter_rate(name).window
    limit = max(0.0, math.ceil(round(limit, 6)) - 1.0)  # the most that is still below it: what is counted comes whole
    return (
        f"{name}{where} grew by {amount(name, growth)} since {step_words(step)}; "
        f"by its past no more than {amount(name, limit)} was to be expected"
    )


def watch(attempt: Attempt, closed: ClosedStep, quiet: bool) -> Iterator[Finding]:
    """Hold what the trainer counts in its frames against its past."""
    for name in watched.COUNTED:
        if name in closed.job:
            yield from _counted(attempt, closed, name, quiet)


def _counted(attempt: Attempt, closed: ClosedStep, name: str, quiet: bool) -> Iterator[Finding]:
    count = attempt.series.counts.setdefault(name, JobCount())
    given = closed.ranks.get(name)
    total = _total(count, np.array([closed.job[name]]) if given is None else given)
    for alarm in judge(name, count.signal, closed.step, np.array([total]), quiet):
        found = Found(
            detector="counter_rate",
            signal=name,
            time=closed.time,
            step=closed.step,
            onset_step=alarm.onset,
            onset_time=time_of(attempt.moments, alarm.onset, closed.time),
        )
        found.text = sentence(name, alarm, "", found.onset_step)
        yield alarm, found


def _total(count: JobCount, row: Floats) -> float:
    """Add up what all ranks have counted; one that is silent, or begins anew, takes nothing away."""
    last = np.full(len(row), np.nan)
    if count.last is not None:
        kept = count.last[: len(row)]
        last[: len(kept)] = kept
    grown = np.where(row >= last, row - last, row)
    count.total += float(np.nansum(np.where(np.isnan(row) | np.isnan(last), 0.0, grown)))
    count.last = np.where(np.isnan(row), last, row)
    return count.total
