"""The job's pace, where it slows down a little with every step: a leak, a fragmenting allocator, a machine that heats.

A level shift does not see it, for what is normal follows slow change. More to do in every step is a plan and no creep:
where a load has moved along, nothing is told.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from detectors.base import Alarm
from detectors.creep import Creep, CreepMemory
from schemas.signals import signal_named
from streams.stages.detect import watched
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.memory import JobSeries

COLUMNS = (*watched.PACE, *watched.RECONFIGURES)
LEAST, TIMES = 0.05, 1.5
"""Smallest relative change that is told, and as many times what is worth an alarm as a sudden one."""
LOADED = 0.01
"""Relative change of a load that explains a creep of the pace."""


@lru_cache(maxsize=64)
def creep(pace: float | None = None) -> Creep:
    """The detector for the pace of a job.

    Args:
        pace: smallest relative change of it that is worth an alarm when sudden; None = by the table of signals.
    """
    worth = signal_named(watched.PACE[0]).worth if pace is None else pace
    return Creep(worth=max(LEAST, TIMES * worth))


def watch(series: JobSeries, closed: ClosedStep, pace: float | None, quiet: bool) -> Iterator[tuple[str, Alarm]]:
    """Take one step; give what was found, by signal.

    Args:
        series: changed in place.
        closed: the step.
        pace: see `creep`.
        quiet: the step neither teaches nor alarms: it is in a phase, or another level of the pace has been told.
    """
    detector = creep(pace)
    if series.creep is None:
        series.creep = detector.blank(len(COLUMNS))
    row = np.array([np.nan if quiet else closed.job.get(name, np.nan) for name in COLUMNS])
    if watched.PACE[0] in closed.job:
        row[1] = np.nan  # one pace is enough
    for alarm in detector.update(series.creep, closed.step, row):
        name = COLUMNS[alarm.series]
        if name not in watched.PACE:
            continue
        if alarm.over or not (_has_more_to_do(detector, series.creep, alarm) or _is_better(name, alarm)):
            yield name, alarm
        else:
            detector.relearn(series.creep, np.arange(len(COLUMNS)) == alarm.series)


def _has_more_to_do(detector: Creep, memory: CreepMemory, alarm: Alarm) -> bool:
    places = range(len(watched.PACE), len(COLUMNS))
    return any(abs(detector.moved(memory, place, alarm.onset)) > LOADED for place in places)


def _is_better(name: str, alarm: Alarm) -> bool:
    return not watched.is_bad(signal_named(name), alarm.direction)
