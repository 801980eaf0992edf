"""What an announced change makes of what was learned: other data move the loss, anything else the pace as well."""

import re

from schemas.detection import Detection
from schemas.telemetry import Event
from streams.stages.detect import announced, learned, mixture, series
from streams.stages.detect.episodes import held_against_normal
from streams.stages.detect.memory import Attempt, Samples

DATA = re.compile(r"data_?(mix|phase|set|source|order|version|path)|mixture|corpus|curriculum|domain", re.IGNORECASE)
"""Fields of a configuration that say what is read, and not how much of it a step trains on."""


def forget(attempt: Attempt, samples: Samples, event: Event) -> list[Detection]:
    """Learn anew what the change makes normal.

    Args:
        attempt: that it was announced for.
        samples: of its machines.
        event: `config.changed`, or a person's word that an incident was legitimate.

    Returns:
        Findings that have ended: they were held against what was normal before.
    """
    of_data = is_of_data_only(event)
    if of_data:
        series.forget_data(attempt.series)
    else:
        series.forget(attempt.series)
        learned.forget(samples)
    attempt.announced = announced.read(event, attempt.announced)
    mixture.reconfigured(attempt, event)
    return [
        one
        for one in attempt.active.values()
        if mixture.is_outdated(attempt, one) or (_tells_of_data(one) if of_data else held_against_normal(one))
    ]


def is_of_data_only(event: Event) -> bool:
    """Tell whether other data are all that was announced: a step has as much to do as before."""
    return event.event == "config.changed" and bool(event.data) and all(DATA.search(name) for name in event.data)


def _tells_of_data(one: Detection) -> bool:
    return one.detector == "spike" or (one.detector == "level_shift" and series.is_of_data(one.signal))
