"""The start of an attempt, and what it takes over from the one before."""

import re

from schemas.telemetry import Event, Telemetry, as_count
from streams.stages.detect import announced, mixture, series, utilisation
from streams.stages.detect.memory import Attempt, Heritage
from streams.stages.detect.participants import enrol, moved, take_over

FINISHED = re.compile(r"max_(epochs|steps)\b.*reached|training (is |has )?(completed?|finished|done)", re.IGNORECASE)
"""Lines with which trainers say that they are through."""
LAST_WORD_SECONDS = 60.0
"""Steps that end so long after the last word show that it was not the last."""
KEPT = (
    *("alignment", "phases", "saves", "voices", "progress", "top_step"),
    *("age", "stalled", "stall_checked", "gpu_util", "unheard", "through"),
)
"""What first frames and events of an attempt have left when its start comes after them."""


def begin(record: Telemetry, before: Attempt | None) -> Attempt:
    """Make the memory of the attempt that a record begins.

    A start that was overtaken by the first frames of its attempt, none of which has been looked at, changes nothing but
    what is known of the attempt.
    """
    if not (isinstance(record, Event) and record.event == "attempt.started"):
        fresh = Attempt(number=record.attempt)
        if before is not None:
            fresh.series.dropped = series.told_before(before.series)
            fresh.trained_before = _trained(before)
            fresh.heritage = Heritage(before.fingerprint, before.world_size, before.series, fresh.trained_before)
        return fresh
    if before is not None and is_overtaken(record, before):
        return _told_late(record, before)
    attempt = start(record, before)
    if before is not None and attempt.series is not before.series:
        attempt.series.dropped = series.told_before(before.series)
    return attempt


def is_overtaken(record: Telemetry, before: Attempt) -> bool:
    """Tell whether a start comes after the first frames of its own attempt, and before any step of it has closed."""
    return before.number == record.attempt and before.alignment.closed == 0


def is_new_start(record: Telemetry, attempt: Attempt) -> bool:
    """Tell whether it is the start of this attempt, of which records came before, or comes after its end: once more."""
    if not isinstance(record, Event) or record.event != "attempt.started":
        return False
    return attempt.started is None or (attempt.ended is not None and record.time > attempt.ended)


def runs_before(record: Telemetry, before: Attempt | None, again: bool) -> int:
    """Count the runs that had the number of this one before it: those that ended, and that it has begun anew after."""
    if before is None or before.number != record.attempt:
        return 0
    return before.runs + (again or before.ended is not None)


def _told_late(event: Event, before: Attempt) -> Attempt:
    attempt = start(event, before.heritage)
    for name in KEPT:
        setattr(attempt, name, getattr(before, name))
    take_over(attempt.participants, before.participants)
    for step in attempt.alignment.open.values():
        for part in step.parts:
            part.places = moved(part.places, before.participants, attempt.participants)
    heir = before.heritage is not None and attempt.series is before.heritage.series
    attempt.series.dropped = [] if heir else before.series.dropped
    return attempt


def start(event: Event, before: Attempt | Heritage | None) -> Attempt:
    """Make the memory of an attempt out of its `attempt.started`.

    Baselines of the job survive only when fingerprint and world size are known and unchanged.
    """
    data = event.data
    attempt = Attempt(
        number=event.attempt,
        started=event.time,
        world_size=as_count(data.get("world_size")) or 0,
        fingerprint=str(data.get("fingerprint") or ""),
        total_steps=as_count(data.get("total_steps")) or 0,
    )
    attempt.mixture.recipe = mixture.recipe_of(event)
    attempt.model = utilisation.model_of(event)
    attempt.announced = announced.read(event)
    attempt.trained_before = -1 if before is None else _trained(before)
    placement = data.get("placement")
    for place in placement if isinstance(placement, list) else []:
        rank = as_count(place.get("rank")) if isinstance(place, dict) else None
        if rank is not None:
            enrol(
                attempt.participants,
                rank,
                str(place.get("node", "")),
                str(place.get("gpu", "")),
                as_count(place.get("pp")) or 0,
            )
    attempt.participants.laid_out = bool(attempt.participants.ranks)
    attempt.world_size = attempt.world_size or len(attempt.participants.ranks)
    if before is not None and same_configuration(before, attempt):
        attempt.series = series.carry_over(before.series)
    return attempt


def same_configuration(before: Attempt | Heritage, after: Attempt) -> bool:
    """Tell whether what was normal before can be expected again."""
    return bool(after.fingerprint) and (before.fingerprint, before.world_size) == (after.fingerprint, after.world_size)


def _trained(before: Attempt | Heritage) -> int:
    """The last step that has been trained so far."""
    return max(before.top_step, before.trained_before) if isinstance(before, Attempt) else before.trained_before


def says_it_is_done(event: Event) -> bool:
    """Tell whether a line of the trainer's log is its last word on a run that is complete."""
    return event.event == "log.line" and bool(FINISHED.search(event.text))


def goes_on(attempt: Attempt, time: float) -> None:
    """Take back that it is done where a step ends well after that was said; those before may come late."""
    if attempt.through is not None and time > attempt.through + LAST_WORD_SECONDS:
        attempt.through = None


def is_through(attempt: Attempt) -> bool:
    """Tell whether the run itself is complete: what stops or ends now has done its work."""
    return attempt.through is not None or 0 < attempt.total_steps <= attempt.top_step
