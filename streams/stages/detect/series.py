"""The job's own signals, step by step: level shifts, limits held too long, spikes, and readings that are not finite."""

from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm, Flags, grow
from detectors.level_shift import LevelShift
from detectors.nonfinite import NonFinite, mark
from schemas.signals import signal_named
from schemas.telemetry import Reading
from schemas.wording import amount, step_words
from streams.stages.detect import counts, creeping, epochs, ramp, scaling, watched
from streams.stages.detect.by_right import ByRight
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.episodes import Found, time_of
from streams.stages.detect.memory import Attempt, JobSeries

_NONFINITE = NonFinite()
STABLE_STEPS = 5
"""A schedule has to have been constant for so long before a step in it counts as a new configuration."""
SETTLING_STEPS = 5
"""First steps of an attempt: compilation, autotuning and cold caches teach nothing."""

Finding = tuple[Alarm, Found]

OF_DATA = ("source_share.", "length_share.", "packing_waste", "bad_sample_share")
"""How the names of signals begin that say what a batch is made of."""


def watch(attempt: Attempt, closed: ClosedStep, explained: bool, borne: float | None = None) -> Iterator[Finding]:
    """Feed one closed step to the detectors of the job's signals.

    Args:
        explained: a legitimate phase reaches into the step, so its times neither teach nor alarm.
        borne: false alarms on the job's pace that are borne in a week; None = by the table of signals.
    """
    series = attempt.series
    series.rows += 1
    if series.rows == SETTLING_STEPS:
        attempt.settled = closed.time
    ramped = ramp.follow(series.by_right, closed)
    if reconfigured(series, closed) or ramped:
        forget(series)
    epochs.note(series.by_right, closed)
    scaling.note(series.by_right, closed)
    pace = watched.pace_worth(borne, series.normal.get("step_seconds"))
    yield from _levels(attempt, closed, pace, quiet=explained or series.rows <= SETTLING_STEPS)
    yield from _creeps(attempt, closed, pace, quiet=explained or series.rows <= SETTLING_STEPS)
    yield from _limits(attempt, closed, quiet=explained)
    yield from _spikes(attempt, closed)
    yield from _nonfinite(attempt, closed)
    yield from counts.watch(attempt, closed, quiet=explained or series.rows <= SETTLING_STEPS)


def forget(series: JobSeries) -> None:
    """Learn anew what is normal: the configuration has changed."""
    if series.level is not None:
        watched.level_shift(tuple(series.names)).relearn(series.level)
    series.creep = None
    series.sustained.clear()
    series.dropped = told_before(series)
    series.normal.clear()


def forget_data(series: JobSeries) -> None:
    """Learn anew how the loss and its kin go and what a batch is made of: other data take a step as long as before."""
    series.spiky.clear()
    series.spike = None
    if series.level is not None:
        watched.level_shift(tuple(series.names)).relearn(
            series.level, np.array([is_of_data(one) for one in series.names])
        )
    for name in filter(is_of_data, list(series.normal)):
        del series.normal[name]
        series.dropped = sorted({*series.dropped, name})


def is_of_data(name: str) -> bool:
    """Tell whether a signal says what a batch is made of."""
    return name.startswith(OF_DATA)


def told_before(series: JobSeries) -> list[str]:
    """Name the signals of which a healthy level was told, and the pace of the job, which has none but follows them."""
    known = {*series.dropped, *series.normal}
    return sorted({*known, "interval_seconds"}) if known else []


def carry_over(series: JobSeries) -> JobSeries:
    """Hand what was learned to the next attempt; the episodes have ended with the one before."""
    if series.level is not None:
        series.level.direction[:] = 0
    if series.spike is not None:
        series.spike.direction[:] = 0
    if series.nonfinite is not None:
        series.nonfinite.kind[:] = 0
    series.creep = None
    series.sustained.clear()
    for name, count in series.counts.items():
        if count.signal.counter is not None:
            watched.counter_rate(name).close(count.signal.counter)
    series.rows, series.by_right = 0, ByRight()
    return series


def reconfigured(series: JobSeries, closed: ClosedStep) -> bool:
    """Tell whether a schedule stepped from one constant value to another: another batch, another length."""
    stepped = False
    for name in watched.RECONFIGURES:
        value = closed.job.get(name)
        if value is None:
            continue
        before, steps = series.schedule.get(name, (value, 0))
        same = abs(value - before) <= 0.01 * abs(before)
        stepped |= not same and steps >= STABLE_STEPS
        series.schedule[name] = (before, steps + 1) if same else (value, 1)
    return stepped


def newly_normal(series: JobSeries) -> dict[str, Reading]:
    """The healthy levels that were learned or have changed since they were last told; None where one was forgotten."""
    news: dict[str, Reading] = dict.fromkeys(series.dropped)
    series.dropped.clear()
    if series.level is None:
        return news
    levels, _ = watched.level_shift(tuple(series.names)).baseline(series.level)
    for name, level in zip(series.names, levels.tolist(), strict=True):
        if np.isfinite(level) and series.normal.get(name) != level:
            series.normal[name] = news[name] = level
    return news


def freeze(series: JobSeries, frozen: bool) -> None:
    """Stop, or take up again, the learning of what is normal."""
    if series.level is not None:
        series.level.frozen[:] = frozen


def _levels(attempt: Attempt, closed: ClosedStep, pace: float | None, quiet: bool) -> Iterator[Finding]:
    series = attempt.series
    new = [name for name in sorted(closed.job) if name not in series.names and watched.has_level(name)]
    series.names.extend(new)
    if not series.names:
        return
    detector = watched.level_shift(tuple(series.names), pace)
    if series.level is None:
        series.level = detector.blank(len(series.names))
    elif new:
        series.level = grow(detector, series.level, len(series.names))
    row = np.array([closed.job.get(name, np.nan) for name in series.names])
    row[[quiet or ramp.hides(series.by_right, name) for name in series.names]] = np.nan
    harmless = np.zeros(len(series.names), dtype=np.bool_)
    for alarm in detector.update(series.level, closed.step, row):
        name = series.names[alarm.series]
        if alarm.over or watched.is_bad(signal_named(name), alarm.direction):
            yield alarm, _found("level_shift", name, attempt, alarm, closed)
        else:
            harmless[alarm.series] = True
    _accept(detector, series, harmless)


def _creeps(attempt: Attempt, closed: ClosedStep, pace: float | None, quiet: bool) -> Iterator[Finding]:
    """What a level shift tells of the pace is not told again."""
    series = attempt.series
    told = series.level is not None and any(
        name in watched.PACE and series.level.direction[place] for place, name in enumerate(series.names)
    )
    for name, alarm in creeping.watch(series, closed, pace, quiet=quiet or told):
        found = _found("creep", name, attempt, alarm, closed)
        change = alarm.after / alarm.before - 1
        found.text = (
            f"{name} has gone from {amount(name, alarm.before)} to {amount(name, alarm.after)} ({change:+.0%}), "
            f"little by little since {step_words(found.onset_step)}"
        )
        yield alarm, found


def _accept(detector: LevelShift, series: JobSeries, harmless: Flags) -> None:
    """A change for the better is the new normal."""
    if harmless.any() and series.level is not None:
        detector.relearn(series.level, harmless)


def _limits(attempt: Attempt, closed: ClosedStep, quiet: bool) -> Iterator[Finding]:
    searches = scaling.searches(attempt.series.by_right, attempt.series.rows)
    for name in watched.LIMITS:
        if name not in closed.job or quiet or (searches and name == "skipped"):
            continue
        detector = watched.sustained(name)
        memory = attempt.series.sustained.setdefault(name, detector.blank(1))
        for alarm in detector.update(memory, closed.step, np.array([closed.job[name]])):
            found = _found("sustained", name, attempt, alarm, closed)
            if not alarm.over:
                limit, rows = watched.LIMITS[name]
                found.text = (
                    f"{name} over {amount(name, limit)} for {rows} steps in a row since {step_words(found.onset_step)}"
                )
            yield alarm, found


def _spikes(attempt: Attempt, closed: ClosedStep) -> Iterator[Finding]:
    series = attempt.series
    new = [name for name in watched.SPIKY if name in closed.job and name not in series.spiky]
    series.spiky.extend(new)
    if not series.spiky:
        return
    detector = watched.spike(tuple(series.spiky))
    if series.spike is None:
        series.spike = detector.blank(len(series.spiky))
    elif new:
        series.spike = grow(detector, series.spike, len(series.spiky))
    row = np.array([closed.job.get(name, np.nan) for name in series.spiky])
    for alarm in detector.update(series.spike, closed.step, row):
        name = series.spiky[alarm.series]
        if epochs.explains(series.by_right, name, alarm, closed.job.get(name, 0.0)):
            detector.believe(series.spike, alarm.series, closed.job[name], alarm.before)
            continue
        yield alarm, _found("spike", name, attempt, alarm, closed)


def _nonfinite(attempt: Attempt, closed: ClosedStep) -> Iterator[Finding]:
    series = attempt.series
    new = [name for name in watched.FINITE if name in closed.readings and name not in series.marked]
    series.marked.extend(new)
    if not series.marked:
        return
    if series.nonfinite is None:
        series.nonfinite = _NONFINITE.blank(len(series.marked))
    elif new:
        series.nonfinite = grow(_NONFINITE, series.nonfinite, len(series.marked))
    row = np.array([_mark(series, closed, name) for name in series.marked])
    for alarm in _NONFINITE.update(series.nonfinite, closed.step, row):
        name = series.marked[alarm.series]
        found = _found("nonfinite", name, attempt, alarm, closed)
        found.text = f"{name} is {_STATES.get(alarm.kind, alarm.kind)} since {step_words(found.onset_step)}"
        yield alarm, found


def _mark(series: JobSeries, closed: ClosedStep, name: str) -> float:
    """A reading is absent only where the frame that usually brings it is there: a frame that was lost says nothing."""
    if name in closed.readings:
        series.tellers[name] = closed.tellers[name]
        if name == "grad_norm" and scaling.did_no_harm(series.by_right, closed):
            return np.nan
        return mark(closed.readings[name])
    return mark(None) if series.tellers.get(name) in closed.nodes else np.nan


_STATES = {"nan": "NaN", "inf": "infinite", "-inf": "minus infinite", "absent": "absent while steps go on"}


def _found(detector: str, name: str, attempt: Attempt, alarm: Alarm, closed: ClosedStep) -> Found:
    return Found(
        detector=detector,
        signal=name,
        time=closed.time,
        step=closed.step,
        onset_step=alarm.onset,
        onset_time=time_of(attempt.moments, alarm.onset, closed.time),
    )
