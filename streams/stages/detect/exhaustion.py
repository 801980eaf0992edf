"""What runs out: memory and disk space that creep towards their end, found hours before they are there."""

from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm, Floats, grow
from schemas.wording import amount, step_words
from streams.stages.detect import watched
from streams.stages.detect.memory import EntitySignal, Supply


def judge(name: str, known: EntitySignal, time: float, row: Floats) -> Iterator[tuple[Alarm, float]]:
    """Take the readings of a moment; whenever a span is full, judge its means.

    Args:
        name: of the signal.
        known: what is remembered of it; changed in place.
        time: of the moment, Unix seconds.
        row: readings, shape (entities,), NaN = no reading.

    Yields:
        An alarm in spans, and the seconds of a span.
    """
    supply, span = known.supply, watched.RUNS_OUT[name].span_seconds
    if supply is None:
        supply = known.supply = Supply()
    number = int(time // span)
    means = _means(supply, len(row)) if number > supply.span else None
    before, supply.span = supply.span, max(number, supply.span)
    if means is not None and before >= 0:
        detector = watched.trend(name)
        if supply.trend is None:
            supply.trend = detector.blank(len(means))
        elif supply.trend.width < len(means):
            supply.trend = grow(detector, supply.trend, len(means))
        for alarm in detector.update(supply.trend, before, means):
            yield alarm, span
    _take(supply, row)


def _means(supply: Supply, width: int) -> Floats:
    """Give the means of the span that is over, and begin another."""
    sums, given = _widened(supply.sums, width), _widened(supply.given, width)
    supply.sums, supply.given = np.zeros(width), np.zeros(width)
    return np.where(given > 0, sums / np.maximum(given, 1.0), np.nan)


def _take(supply: Supply, row: Floats) -> None:
    supply.sums = _widened(supply.sums, len(row)) + np.nan_to_num(row)
    supply.given = _widened(supply.given, len(row)) + np.isfinite(row)


def _widened(row: Floats | None, width: int) -> Floats:
    wide = np.zeros(width)
    if row is not None:
        wide[: len(row)] = row
    return wide


def sentence(name: str, subject: str, alarm: Alarm, span: float, step: int | None) -> str:
    """Say what is left, and for how long."""
    now, left = amount(name, alarm.after), amount("interval_seconds", alarm.numbers["rows_left"] * span)
    return f"{name} of {subject} goes steadily to its end since {step_words(step)}: {now}, there in {left}"
