"""Steps that no longer come: the age of the last progress on the stream's clock, less what announced phases explain."""

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import structs

from detectors.base import Alarm
from detectors.stalled import Stalled
from schemas.telemetry import Reading
from schemas.wording import amount, count, step_words
from streams.stages.detect import phases, spinning, unheard
from streams.stages.detect.attempt import goes_on, is_through
from streams.stages.detect.episodes import Found
from streams.stages.detect.memory import Attempt
from streams.stages.detect.participants import behind

_STALLED = Stalled()
SPINNING, UNHEARD, UNCLEAR = "spinning", "unheard", "unclear"
"""Parts: GPUs that wait in a collective; before any step of the job, GPUs that work, and such that show neither."""
IDLE_UTIL = 0.2
IDLE_PATIENCE = 6.0
"""GPUs that idle are in a phase that nobody announced, or wait for their host: so many times the patience."""
UNBORN_PATIENCE = 2.0
"""Likewise before the first step of all: fetching and preparing data takes hours only where something is wrong."""
PAUSES, LONGEST_SECONDS = 2.0, 1800.0
"""A pause that ended by itself may come again: so often the longest is waited for, up to so many seconds; twice as many
where the steps of it came later."""
SPIN_WEIGHT = 100.0
"""Seconds of a standstill in which busy GPUs draw little weigh so much: they outgrow every limit once they count."""


def advanced(attempt: Attempt, step: int, time: float) -> None:
    """Note a frame of a step: how long the job took to come so far is what it usually takes.

    Args:
        attempt: which has come so far.
        step: of the frame.
        time: the stream's clock, Unix seconds; the frame's own may be wrong.
    """
    if step <= attempt.top_step:
        return
    if attempt.progress is not None and attempt.stalled is not None and time > attempt.progress:
        plain = _unexplained(attempt, attempt.progress, time)
        age = _weighed(attempt, plain)
        if age <= _STALLED.limits(attempt.stalled)[0]:
            _STALLED.update(attempt.stalled, int(time), np.array([age]))
        attempt.longest = max(attempt.longest, plain if attempt.settled is not None else 0.0)
    attempt.top_step, attempt.age = step, 0.0
    goes_on(attempt, time)
    spinning.forget(attempt)
    attempt.progress = max(attempt.progress or 0.0, time)


def resumed(attempt: Attempt, time: float) -> None:
    """Count from here: what came before could not be seen."""
    if attempt.progress is not None:
        attempt.progress = max(attempt.progress, time)


def gpus(attempt: Attempt, values: Mapping[str, Reading]) -> None:
    """Note what the GPUs do at a moment."""
    attempt.gpu_util = values.get("gpu_util", attempt.gpu_util)
    if attempt.top_step < 0:
        unheard.take(attempt.unheard, values)


def due(attempt: Attempt) -> float:
    """Give the time at which the progress has to be looked at: once per second."""
    return attempt.stall_checked + 1.0


def watch(attempt: Attempt, now: float) -> Iterator[tuple[Alarm, Found]]:
    """Look at the age of the last progress, once per second of the stream's clock.

    Args:
        attempt: the one that should make progress.
        now: the stream's clock, Unix seconds.
    """
    if attempt.ended is not None or int(now) <= attempt.stall_checked or is_through(attempt):
        return
    attempt.stall_checked = int(now)
    since = attempt.progress if attempt.progress is not None else attempt.started
    if since is None:
        return
    if attempt.stalled is None:
        attempt.stalled = _STALLED.blank(1)
    age = attempt.age = max(attempt.age, _weighed(attempt, _unexplained(attempt, since, now)))
    for alarm in _STALLED.update(attempt.stalled, int(now), np.array([age])):
        told = structs.replace(alarm, after=max(0.0, now - since))
        if alarm.limit > told.after and not alarm.over:
            told = structs.replace(told, limit=spinning.limit(attempt))
        elif not alarm.over:
            told = structs.replace(told, limit=max(alarm.limit, _patience(attempt)))
        yield told, _found(attempt, told, since, now)


def _unexplained(attempt: Attempt, since: float, now: float) -> float:
    """Seconds without progress that no phase explains."""
    return max(0.0, now - since - phases.explained_seconds(attempt.phases, since, now))


def _weighed(attempt: Attempt, age: float) -> float:
    """What seconds without progress weigh: less while GPUs idle, more while busy ones draw little power."""
    if _idles(attempt):
        return age / (UNBORN_PATIENCE if _is_unborn(attempt) else IDLE_PATIENCE)
    if spinning.calls(attempt, age):
        return age * SPIN_WEIGHT
    if age < _patience(attempt) and attempt.stalled is not None:
        return min(age, float(_STALLED.limits(attempt.stalled)[0]))
    return age


def _patience(attempt: Attempt) -> float:
    return max(min(PAUSES * attempt.longest, LONGEST_SECONDS), min(PAUSES * attempt.made_up, 2 * LONGEST_SECONDS))


def _found(attempt: Attempt, alarm: Alarm, since: float, now: float) -> Found:
    people = attempt.participants
    first = behind(people)
    places = [people.index[rank] for rank in first]
    step = attempt.top_step if attempt.top_step >= 0 else None
    before = "since the start" if step is None else f"after {step_words(step)}"
    part = _part(attempt)
    busy = "; its GPUs work" if part == UNHEARD else "; its GPUs idle" if _idles(attempt) else spinning.words(attempt)
    who = f"; {count(len(first), 'rank')} stopped before the others: {_some(first)}" if first else ""
    return Found(
        detector="stalled",
        signal="interval_seconds",
        stepped=False,
        time=now,
        step=step,
        onset_step=step,
        onset_time=since,
        again=f"after step {step}",
        ranks=first,
        nodes=tuple(sorted({people.nodes[place] for place in places if people.nodes[place]})),
        part=part,
        gpus=tuple(people.gpus[place] for place in places if people.gpus[place]),
        text=(
            f"no step for {amount('interval_seconds', now - since)} {before}, "
            f"limit {amount('interval_seconds', alarm.limit)}{busy}{who}"
        ),
    )


def _part(attempt: Attempt) -> str:
    if spinning.words(attempt):
        return SPINNING
    if not _is_unborn(attempt) or (unheard.waits(attempt.unheard) and not _idles(attempt)):
        return ""
    return UNHEARD if unheard.works(attempt.unheard) else UNCLEAR


def _is_unborn(attempt: Attempt) -> bool:
    """No step of the job has ever been told."""
    return attempt.top_step < 0 and attempt.trained_before < 0


def _idles(attempt: Attempt) -> bool:
    return attempt.gpu_util is not None and attempt.gpu_util < IDLE_UTIL


def _some(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(str(rank) for rank in ranks[:3])
    return shown + (f" and {len(ranks) - 3} more" if len(ranks) > 3 else "")
