"""What a frame leaves with its step: its readings as doubles, side by side.

A step of a large job waits for thousands of numbers. As Python objects they lie scattered, and reading them again costs
more than everything else that is done with them; here they are laid side by side as soon as they come.
"""

from collections.abc import Iterator
from itertools import chain, groupby
from math import nan
from struct import error, pack

import numpy as np

from detectors.base import Floats, Ints
from schemas.telemetry import LARGEST, Reading, StepFrame
from streams.stages.detect.open_steps import StepPart


def part_of(frame: StepFrame, places: bytes) -> StepPart:
    """Take from a frame what its step needs.

    Args:
        places: of its ranks among the participants, as `streams.stages.detect.participants.enrol_frame` gives them.
    """
    values = frame.values
    return StepPart(frame.node, frame.time, frame.every, tuple(values), places, _doubles(values), frame.job_values)


def _doubles(values: dict[str, list[Reading]]) -> bytes:
    readings = [*chain.from_iterable(values.values())]
    try:
        return pack(f"{len(readings)}d", *readings)
    except error:  # one of them is absent
        return pack(f"{len(readings)}d", *[nan if reading is None else reading for reading in readings])


def rows_of(parts: list[StepPart], width: int) -> dict[str, Floats]:
    """Lay the readings of a step out over the ranks, one row per signal; of two for the same rank the first stands.

    Args:
        parts: in the order in which they came.
        width: ranks that take part.

    Returns:
        Signal -> shape (width,), NaN where a rank has no usable reading.
    """
    runs = [list(run) for _, run in groupby(parts, key=lambda part: (part.signals, len(part.places)))]
    names = dict.fromkeys(name for run in runs for name in run[0].signals)
    rows = {name: np.full(width, np.nan) for name in names}
    for run in reversed(runs):
        for name, places, readings in _columns(run):
            usable = np.abs(readings) <= LARGEST  # NaN is not
            if not usable.all():
                places, readings = places[usable], readings[usable]
            rows[name][places[::-1]] = readings[::-1]
    return rows


def _columns(run: list[StepPart]) -> Iterator[tuple[str, Ints, Floats]]:
    """Put parts of the same signals and as many ranks one under another; give places and readings of each signal."""
    signals, places = run[0].signals, np.frombuffer(b"".join([part.places for part in run]), dtype=np.int64)
    if not signals or not places.size:
        return
    readings = np.frombuffer(b"".join([part.readings for part in run])).reshape(len(run), len(signals), -1)
    for at, name in enumerate(signals):
        yield name, places, readings[:, at].ravel()
