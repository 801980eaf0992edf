"""The mixture of the data against its recipe, where the launcher gave one; unreadable samples against none at all."""

from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm
from detectors.exposure import Exposure
from playbooks.cause import covers
from schemas.detection import Detection
from schemas.telemetry import Event
from schemas.wording import amount, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.episodes import Found, time_of
from streams.stages.detect.memory import Attempt, Mixture

BAD = "bad_sample_share"
_MIXED = ("source_share.*", "length_share.*")
_WITHOUT = Exposure(recipe=0.0, relative=0.0)
"""What should not be there at all: two in a hundred samples that cannot be read are a finding."""


def recipe_of(event: Event) -> dict[str, float]:
    """Read the recipe that an event carries, as `{"source_share.web": 0.6}`; what is no share is left out."""
    given = event.data.get("recipe")
    if isinstance(given, list) and len(given) == 2:
        given = given[1]  # of a change: the old one and the new one
    shares = given.items() if isinstance(given, dict) else ()
    return {name: float(share) for name, share in shares if covers(_MIXED, str(name)) and _is_share(share)}


def reconfigured(attempt: Attempt, event: Event) -> None:
    """Take over a recipe that was changed; one that people call outdated is no recipe any more."""
    outdated = event.event == "incident.closed" and any(is_held(one) for one in attempt.active.values())
    if outdated or "recipe" in event.data:
        attempt.mixture = Mixture(recipe=recipe_of(event), bad=None if outdated else attempt.mixture.bad)


def is_outdated(attempt: Attempt, detection: Detection) -> bool:
    """Tell whether a finding was held against a recipe that is gone."""
    return is_held(detection) and detection.signal != BAD and attempt.mixture.memory is None


def is_held(detection: Detection) -> bool:
    """Tell whether a finding is one of a recipe."""
    return detection.detector == "exposure"


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def watch(attempt: Attempt, closed: ClosedStep, explained: bool) -> Iterator[tuple[Alarm, Found]]:
    """Hold the shares of one step against the recipe; those of a legitimate phase are left out."""
    known = attempt.mixture
    if explained or not (known.recipe or BAD in closed.job):
        return
    if known.recipe:
        names = sorted(known.recipe)
        detector = Exposure(recipe=np.array([known.recipe[name] for name in names]))
        row = np.array([closed.job.get(name, np.nan) for name in names])
        if known.memory is None:
            known.memory = detector.blank(len(names))
        for alarm in detector.update(known.memory, closed.step, row):
            yield alarm, _found(names[alarm.series], attempt, alarm, closed)
    if BAD in closed.job:
        if known.bad is None:
            known.bad = _WITHOUT.blank(1)
        for alarm in _WITHOUT.update(known.bad, closed.step, np.array([closed.job[BAD]])):
            yield alarm, _found(BAD, attempt, alarm, closed)


def _found(name: str, attempt: Attempt, alarm: Alarm, closed: ClosedStep) -> Found:
    since, planned = step_words(alarm.onset), amount(name, alarm.before)
    so_far = amount(name, alarm.numbers["so_far"])
    return Found(
        detector="exposure",
        signal=name,
        time=closed.time,
        step=closed.step,
        onset_step=alarm.onset,
        onset_time=time_of(attempt.moments, alarm.onset, closed.time),
        text=f"{name} is {amount(name, alarm.after)} since {since}, planned {planned}; {so_far} of all that was shown",
    )
