"""Checkpoint pauses: how long a save held the job up, against earlier saves and the time trained between them."""

from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm
from detectors.checkpoint import Checkpoint
from schemas.telemetry import Event, as_count
from schemas.wording import amount, step_words
from streams.stages.detect import beside_saves
from streams.stages.detect.attempt import is_through
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.episodes import Found
from streams.stages.detect.memory import Attempt, Saves

_CHECKPOINT = Checkpoint()
LONGEST_SECONDS = 30 * 86400.0
"""No save takes a month: a longer one is in another unit."""


def begun(saves: Saves, event: Event) -> None:
    """A save begins."""
    step = _step(event, -1)
    saves.begun.setdefault(step, event.time)
    beside_saves.begun(saves.beside, step, event.time, waits=not is_blocking(event))


def is_blocking(event: Event) -> bool:
    """Tell whether training waits for this save."""
    return bool(event.data.get("mode", "sync") != "async")


def beside(attempt: Attempt, closed: ClosedStep) -> str:
    """Name the phase of a step that is slow, or late, because of a save beside it, or ""."""
    memory, previous = attempt.saves.beside, attempt.alignment.last_time or closed.time
    seconds = closed.job.get("step_seconds", float("nan"))
    waited = beside_saves.has_waited(memory, previous, closed.time, closed.interval, seconds)
    slowed = beside_saves.explains(memory, previous, closed.time, closed.job.get("step_seconds", closed.interval))
    return "checkpoint" if waited or slowed else ""


def finished(attempt: Attempt, event: Event) -> Iterator[tuple[Alarm, Found]]:
    """A save is complete: take the length of its pause; one that did not block has none."""
    saves = attempt.saves
    step = _step(event, -1)
    begin = saves.begun.pop(step, None)
    beside_saves.ended(saves.beside, step, event.time)
    seconds = _seconds(event.data.get("seconds"))
    if seconds is None:
        seconds = max(0.0, event.time - begin) if begin is not None else None
    if seconds is None or step == saves.last_step:
        return
    yield from paused(attempt, step, event.time, seconds if is_blocking(event) else 0.0)


def paused(attempt: Attempt, step: int, time: float, seconds: float) -> Iterator[tuple[Alarm, Found]]:
    """Judge one pause, whichever way it became known.

    Args:
        step: the step after which was saved.
        time: Unix seconds at which the pause ended.
        seconds: its length; 0 for a save that did not block.
    """
    saves = attempt.saves
    if saves.memory is None:
        saves.memory = _CHECKPOINT.blank(2)
    trained = max(0.0, time - seconds - saves.last_end) if saves.last_end else np.nan
    saves.last_step, saves.last_end, saves.pause = step, time, seconds
    if is_through(attempt):
        return  # the last save exports, consolidates and holds nobody up
    for alarm in _CHECKPOINT.update(saves.memory, step, np.array([seconds, trained])):
        yield alarm, _found(alarm, step, time, seconds)


def overrun(attempt: Attempt, now: float) -> Iterator[tuple[Alarm, Found]]:
    """Judge a pause while it lasts, against earlier saves of the attempt; one in which steps go on is none.

    Args:
        attempt: whose save may be running.
        now: the stream's clock, Unix seconds.
    """
    phase, saves = attempt.phases.open.get("checkpoint"), attempt.saves
    if phase is None or saves.memory is None or attempt.ended is not None or is_through(attempt):
        return
    seconds = now - max(phase.begin, attempt.progress or 0.0)
    step = max([step for step, begin in saves.begun.items() if begin == phase.begin], default=attempt.top_step)
    for alarm in _CHECKPOINT.lasting(saves.memory, step, seconds):
        yield alarm, _found(alarm, step, now, seconds, "has so far ")


def _found(alarm: Alarm, step: int, time: float, seconds: float, so_far: str = "") -> Found:
    usual = f", usually {amount('checkpoint_seconds', alarm.before)}" if np.isfinite(alarm.before) else ""
    lasted = f"{so_far}paused the job for {amount('checkpoint_seconds', seconds)}{usual}"
    return Found(
        detector="checkpoint",
        signal="checkpoint_seconds",
        time=time,
        step=step,
        onset_step=step,
        onset_time=time - seconds,
        text=f"checkpoint at {step_words(step)} {lasted} (limit {amount('checkpoint_seconds', alarm.limit)})",
    )


def _step(event: Event, otherwise: int) -> int:
    step = as_count(event.data.get("step"))
    return otherwise if step is None else step


def _seconds(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONGEST_SECONDS
    return float(value) if usable and isinstance(value, int | float) else None
