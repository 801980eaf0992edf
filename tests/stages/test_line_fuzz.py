"""Whatever is valid telemetry, the line takes it without a fault, and what it says can be written and read again."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.codec import BadRecord, decode, encode, from_wire
from schemas.events import EVENTS
from schemas.signals import SIGNALS
from schemas.telemetry import Event, SampleFrame, StepFrame, Tick
from streams.stores.pack import pack, unpack
from tests.stages.build import START
from tests.stages.short_story import line

SIGNAL_NAMES = [signal.name.replace("*", "x") for signal in SIGNALS] + ["", "new_signal", "NaN"]
EVENT_NAMES = [kind.name for kind in EVENTS] + ["no.such.event", " "]
FIELD_NAMES = sorted({field for kind in EVENTS for field in kind.fields} | {"by", "cause", "legitimate", "request"})

readings = st.none() | st.floats() | st.floats(0, 10)
odd = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
places = st.fixed_dictionaries(
    {}, optional={"rank": odd | st.integers(0, 12), "node": odd, "gpu": odd, "pp": odd | st.integers(0, 3)}
)
data = st.dictionaries(st.sampled_from(FIELD_NAMES), odd, max_size=6) | st.fixed_dictionaries(
    {"placement": st.lists(places | odd, max_size=12)}, optional={"world_size": odd, "fingerprint": odd}
)
times = st.floats(START, START + 3_000) | st.floats(0, 9.9e10)
steps = st.integers(0, 60) | st.integers(0, 1 << 53)
head: dict[str, st.SearchStrategy[Any]] = {  # Any: each field has its own type
    "job": st.just("odd"),
    "attempt": st.integers(0, 3) | st.integers(0, 1 << 53),
    "node": st.sampled_from(["n1", "n2", "log", " "]),
    "boot": st.sampled_from(["", "b"]),
    "seq": st.integers(0, 1 << 53),
    "time": times,
}


def drawn(draw: st.DrawFn) -> dict[str, Any]:  # Any: each field has its own type
    """What every record says about itself."""
    return {name: draw(strategy) for name, strategy in head.items()}


@st.composite
def step_frames(draw: st.DrawFn) -> StepFrame:
    """A frame of any ranks and signals."""
    ranks = draw(st.lists(st.integers(0, 12) | st.integers(0, 1 << 53), max_size=6, unique=True))
    row = st.lists(readings, min_size=len(ranks), max_size=len(ranks))
    return StepFrame(
        **drawn(draw),
        step=draw(steps),
        ranks=ranks,
        values=draw(st.dictionaries(st.sampled_from(SIGNAL_NAMES), row, max_size=6)),
        job_values=draw(st.dictionaries(st.sampled_from(SIGNAL_NAMES), readings, max_size=6)),
        every=draw(st.integers(1, 10) | st.integers(1, 1 << 53)),
    )


@st.composite
def sample_frames(draw: st.DrawFn) -> SampleFrame:
    """A frame of any entities and signals."""
    ids = draw(st.lists(st.sampled_from(["GPU-1", "GPU-2", "n1", "/data"]), max_size=4))
    row = st.lists(readings, min_size=len(ids), max_size=len(ids))
    ranks = draw(st.just([]) | st.lists(st.integers(0, 1 << 53), min_size=len(ids), max_size=len(ids)))
    return SampleFrame(
        **drawn(draw),
        of=draw(st.sampled_from(["gpu", "node", "nic", "disk", "mount", "job"])),
        ids=ids,
        ranks=ranks,
        values=draw(st.dictionaries(st.sampled_from(SIGNAL_NAMES), row, max_size=4)),
    )


events = st.builds(
    Event,
    event=st.sampled_from(EVENT_NAMES),
    subject=st.sampled_from(["", "GPU-1", "n1"]),
    data=data,
    text=st.text(max_size=9),
    **head,
)
ticks = st.builds(Tick, time=times, every=st.floats(0.001, 3600))
records = step_frames() | sample_frames() | events | ticks


def healthy(number: int) -> StepFrame:
    """A frame of a job whose levels have been learned when the odd ones come."""
    values: dict[str, list[float | None]] = {
        "step_seconds": [1.0] * 4,
        "wait_seconds": [0.1] * 4,
        "loader_seconds": [0.03] * 4,
        "compute_seconds": [0.8] * 4,
    }
    return StepFrame(
        job="odd",
        attempt=0,
        node="n1",
        seq=number,
        time=START + number,
        step=number,
        ranks=[0, 1, 2, 3],
        values=values,
        job_values={"loss": 2.0, "tokens": 1e6, "grad_norm": 0.3},
    )


def checked(story: list[Any]) -> None:  # Any: records of all kinds
    """Feed a story; write and read back everything that is said, and the memory in the end."""
    memory = line().blank("odd")
    said = [sent for record in story for sent in line().feed(memory, record)]
    said += line().flush(memory)
    for sent in said:
        assert from_wire(encode(sent.record), type(sent.record)) is not None
    for row, stage in zip(line().rows, memory.stages, strict=True):
        assert pack(unpack(pack(stage), row.stage.memory)) == pack(stage)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(records, max_size=25))
def test_no_valid_record_is_a_fault(story: list[StepFrame | SampleFrame | Event | Tick]) -> None:
    """Odd types, huge numbers, times far apart: the line says what it can and goes on."""
    checked(story)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(records, min_size=1, max_size=20))
def test_a_job_that_was_well_takes_odd_records_too(story: list[StepFrame | SampleFrame | Event | Tick]) -> None:
    """The same after forty healthy steps, when detectors have something to compare with."""
    checked([*map(healthy, range(40)), *story, *map(healthy, range(40, 60))])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["kind", "v", "job", "attempt", "node", "seq", "time", "event", "data"]), odd))
def test_what_the_codec_lets_through_the_line_takes(plain: dict[str, Any]) -> None:  # Any: JSON
    """A record is either refused by the codec or harmless."""
    base = {"kind": "event", "job": "odd", "attempt": 1, "node": "n1", "seq": 1, "time": START, "event": "xid"}
    try:
        record = decode(json.dumps({**base, **plain}).encode())
    except BadRecord:
        return
    checked([record])


def test_thousands_of_ranks() -> None:
    """A frame of three thousand ranks, a third of them slow, is taken like any other."""
    count = 3_072
    slow = [1.4 if rank % 3 == 0 else 1.0 for rank in range(count)]
    story = []
    for number in range(30):
        own = slow if number >= 15 else [1.0] * count
        story.append(
            StepFrame(
                job="odd",
                attempt=1,
                node="n1",
                seq=number,
                time=START + number,
                step=number,
                ranks=list(range(count)),
                values={
                    "step_seconds": [1.5] * count,
                    "compute_seconds": list(own),
                    "wait_seconds": [1.5 - x for x in own],
                },
            )
        )
    checked(story)
