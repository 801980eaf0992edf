"""Records to be varied by tests, and Hypothesis strategies that make any valid one."""

import math
from typing import Any

from hypothesis import strategies as st

from schemas.telemetry import Event, SampleFrame, StepFrame

NOW = 1_740_960_000.0
LARGEST_COUNT = 1 << 53

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
counts = st.integers(0, LARGEST_COUNT)
times = st.floats(0, 1e10, allow_nan=False)
readings = st.one_of(st.none(), st.floats(-1e12, 1e12), st.sampled_from([math.nan, math.inf, -math.inf]))
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats(-1e12, 1e12), st.text(max_size=8)
)
any_data = st.dictionaries(
    st.text(max_size=6),
    st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
        max_leaves=6,
    ),
    max_size=4,
)


def plain_step(**changed: Any) -> dict[str, Any]:  # Any: any field, well-formed or not
    """A step frame as plain data."""
    frame = {"kind": "steps", "job": "j", "attempt": 1, "node": "n01", "seq": 3, "time": NOW, "step": 7}
    return {**frame, "ranks": [0, 1], "values": {"step_seconds": [1.0, 1.1]}, "job_values": {"loss": 2.3}, **changed}


def plain_event(**changed: Any) -> dict[str, Any]:  # Any: any field, well-formed or not
    """An event as plain data."""
    event = {"kind": "event", "job": "j", "attempt": 1, "node": "n01", "seq": 3, "time": NOW, "event": "xid"}
    return {**event, "subject": "GPU-1", "data": {"code": 79}, **changed}


def plain_samples(**changed: Any) -> dict[str, Any]:  # Any: any field, well-formed or not
    """A sample frame as plain data."""
    frame = {"kind": "samples", "job": "j", "attempt": 1, "node": "n01", "seq": 3, "time": NOW, "of": "gpu"}
    return {**frame, "ids": ["GPU-1", "GPU-2"], "ranks": [0, 1], "values": {"gpu_util": [0.9, 0.8]}, **changed}


def _envelope() -> dict[str, st.SearchStrategy[Any]]:  # Any: fields of different types
    return {
        "job": names,
        "attempt": counts,
        "node": names,
        "seq": counts,
        "time": times,
        "boot": st.text(max_size=6),
        "cluster": st.text(max_size=6),
        "received": st.none() | times,
    }


@st.composite
def step_frames(draw: st.DrawFn) -> StepFrame:
    """Make any valid step frame."""
    ranks = draw(st.lists(counts, unique=True, max_size=5))
    rows = st.lists(readings, min_size=len(ranks), max_size=len(ranks))
    return StepFrame(
        **draw(st.fixed_dictionaries(_envelope())),
        step=draw(counts),
        ranks=ranks,
        values=draw(st.dictionaries(names, rows, max_size=3)),
        job_values=draw(st.dictionaries(names, readings, max_size=3)),
        every=draw(st.integers(1, 100)),
        mean=draw(st.booleans()),
    )


@st.composite
def sample_frames(draw: st.DrawFn) -> SampleFrame:
    """Make any valid sample frame."""
    ids = draw(st.lists(names, max_size=4))
    rows = st.lists(readings, min_size=len(ids), max_size=len(ids))
    return SampleFrame(
        **draw(st.fixed_dictionaries(_envelope())),
        of=draw(st.sampled_from(["gpu", "node", "nic", "disk", "mount", "job"])),
        ids=ids,
        ranks=draw(st.one_of(st.just([]), st.lists(counts, min_size=len(ids), max_size=len(ids)))),
        values=draw(st.dictionaries(names, rows, max_size=3)),
    )


@st.composite
def any_events(draw: st.DrawFn) -> Event:
    """Make any valid event."""
    return Event(
        **draw(st.fixed_dictionaries(_envelope())),
        event=draw(names),
        subject=draw(st.text(max_size=8)),
        data=draw(any_data),
        text=draw(st.text(max_size=20)),
    )


any_telemetry = st.one_of(step_frames(), sample_frames(), any_events())
