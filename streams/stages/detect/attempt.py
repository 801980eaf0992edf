"""The start of an attempt, and what it takes over from the one before."""

from schemas.telemetry import Event, as_count
from streams.stages.detect import mixture, series, utilisation
from streams.stages.detect.memory import Attempt
from streams.stages.detect.participants import enrol


def start(event: Event, before: Attempt | None) -> Attempt:
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
    attempt.trained_before = -1 if before is None else max(before.top_step, before.trained_before)
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
    attempt.world_size = attempt.world_size or len(attempt.participants.ranks)
    if before is not None and same_configuration(before, attempt):
        attempt.series = series.carry_over(before.series)
    return attempt


def same_configuration(before: Attempt, after: Attempt) -> bool:
    """Tell whether what was normal before can be expected again."""
    return bool(after.fingerprint) and (before.fingerprint, before.world_size) == (after.fingerprint, after.world_size)
