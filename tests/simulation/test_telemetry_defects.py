"""Defects change what arrives and when, never what a record says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from schemas.codec import encode
from schemas.telemetry import Event, Inbound, SampleFrame, StepFrame
from streams.agents.simulated import defects_for, seeded
from streams.agents.simulation.telemetry_defects import DefectRates, TelemetryDefects


def _name(record: Inbound) -> tuple[str, int]:
    assert isinstance(record, StepFrame | SampleFrame | Event)
    return record.node, record.seq


def _carried(records: list[Inbound], rates: DefectRates, seed: int) -> list[Inbound]:
    defects = TelemetryDefects(np.random.default_rng(seed), rates)
    arrived: list[Inbound] = []
    for begin in range(0, len(records), 10):
        batch = records[begin : begin + 10]
        now = max(getattr(record, "time", 0.0) for record in batch)
        arrived += defects.carry(batch, now)
    return arrived + defects.flush()


@pytest.fixture(scope="module")
def sent() -> list[Inbound]:
    """What the agents of a whole run sent."""
    simulation, records = seeded("evaluation", 5), []
    while not simulation.finished:
        records += simulation.advance()
    return records


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_what_arrives_was_sent(sent: list[Inbound], seed: int) -> None:
    """Every record that arrives is one that was sent, but for the readings of a rank that may be absent."""
    by_name = {_name(record): record for record in sent}
    for record in _carried(sent, DefectRates(gaps=0.05), seed):
        original = by_name[_name(record)]
        if record != original:
            assert isinstance(record, StepFrame)
            assert isinstance(original, StepFrame)
            absent = {place for readings in record.values.values() for place, r in enumerate(readings) if r is None}
            assert len(absent) == 1
            kept = {
                name: [None if place in absent else reading for place, reading in enumerate(readings)]
                for name, readings in original.values.items()
            }
            assert structs.replace(original, values=kept) == record


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_no_event_is_lost_or_repeated(sent: list[Inbound], seed: int) -> None:
    """Events arrive once each, whatever happens to frames."""
    rates = DefectRates(missing=0.2, repeated=0.2, late=0.2)
    arrived = [_name(record) for record in _carried(sent, rates, seed) if isinstance(record, Event)]
    assert sorted(arrived) == sorted(_name(record) for record in sent if isinstance(record, Event))


def test_how_much_goes_wrong() -> None:
    """About 0.1 % are missing, 0.3 % come twice, 1 % are up to eight seconds late, and 0.2 % have a gap."""
    count, per_batch = 40_000, 100
    frame = StepFrame(job="j", attempt=1, node="n", seq=0, time=0.0, step=0, ranks=[0, 1], values={"x": [1.0, 2.0]})
    defects, seen, delays, gaps = defects_for(1), dict[int, int](), [], 0
    for begin in range(0, count, per_batch):
        now = float(begin + per_batch) / per_batch
        batch: list[Inbound] = [
            structs.replace(frame, seq=seq, time=seq / per_batch) for seq in range(begin, begin + per_batch)
        ]
        for record in defects.carry(batch, now):
            assert isinstance(record, StepFrame)
            if record.seq not in seen:
                delays.append(now - record.time)
                gaps += record != structs.replace(frame, seq=record.seq, time=record.time)
            seen[record.seq] = seen.get(record.seq, 0) + 1
    assert (count - len(seen)) / count == pytest.approx(0.0012, abs=0.0008)
    assert sum(times == 2 for times in seen.values()) / count == pytest.approx(0.003, abs=0.001)
    assert (np.array(delays) > 1.2).mean() == pytest.approx(0.0085, abs=0.002)
    assert max(delays) < 9.2
    assert gaps / count == pytest.approx(0.002, abs=0.0008)


def test_order_of_arrival_is_another(sent: list[Inbound]) -> None:
    """Records of one source overtake each other, and none is more than eight seconds and a little late."""
    arrived = _carried(sent, DefectRates(missing=0.0, repeated=0.0, gaps=0.0), 3)
    numbers = [_name(record)[1] for record in arrived if _name(record)[0] == "n01"]
    assert sorted(numbers) == list(range(len(numbers)))
    assert numbers != sorted(numbers)


def test_nothing_wrong_means_nothing_changed(sent: list[Inbound]) -> None:
    """With every rate at zero the records arrive as they were sent."""
    rates = DefectRates(missing=0.0, repeated=0.0, late=0.0, gaps=0.0, jitter_seconds=0.0)
    assert sorted(map(encode, _carried(sent, rates, 1))) == sorted(map(encode, sent))
