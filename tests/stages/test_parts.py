"""Readings laid side by side give the same rows as readings taken one by one."""

from math import inf, isnan, nan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schemas.telemetry import Reading, StepFrame
from streams.stages.detect.open_steps import Participants
from streams.stages.detect.participants import enrol_frame
from streams.stages.detect.parts import part_of, rows_of

READINGS = st.one_of(st.none(), st.sampled_from([nan, inf, -inf, 1e301, 0.0, 1.5]), st.floats(width=32))


@st.composite
def step_frames(draw: st.DrawFn) -> StepFrame:
    """A frame of any node, of some of eight ranks and some of three signals."""
    ranks = draw(st.lists(st.integers(0, 7), max_size=4, unique=True))
    names = draw(st.lists(st.sampled_from(["loss", "step_seconds", "wait_seconds"]), max_size=3, unique=True))
    readings = st.lists(READINGS, min_size=len(ranks), max_size=len(ranks))
    values: dict[str, list[Reading]] = {name: draw(readings) for name in names}
    node = draw(st.sampled_from(["a", "b"]))
    return StepFrame(job="toy", attempt=1, node=node, seq=0, time=1e9, step=7, ranks=ranks, values=values)


@given(st.lists(step_frames(), max_size=6))
def test_rows_are_what_the_frames_say(frames: list[StepFrame]) -> None:
    """Of two usable readings for a rank the first stands, and signals stand in the order of their first telling."""
    people = Participants()
    parts = [part_of(frame, enrol_frame(people, frame)) for frame in frames]
    rows = rows_of(parts, len(people.ranks))
    wanted: dict[str, dict[int, float]] = {}
    for frame in frames:
        for name, readings in frame.values.items():
            row = wanted.setdefault(name, {})
            for rank, reading in zip(frame.ranks, readings, strict=True):
                if reading is not None and not isnan(reading) and abs(reading) <= 1e300:
                    row.setdefault(rank, reading)
    assert list(rows) == list(wanted)
    for name, row in wanted.items():
        np.testing.assert_array_equal(rows[name], [row.get(rank, nan) for rank in people.ranks])
