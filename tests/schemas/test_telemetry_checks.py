"""What a record refuses to be, however it is made."""

import math
from typing import Any

import pytest

from schemas.telemetry import Event, SampleFrame, StepFrame, Tick, as_count, is_finite
from tests.schemas.records import NOW

ENVELOPE: dict[str, Any] = {"job": "j", "attempt": 1, "node": "n01", "seq": 0, "time": NOW}  # Any: fields of a record


@pytest.mark.parametrize("time", [-1.0, 1e11, NOW * 1000, math.nan, math.inf, -math.inf])
def test_a_time_is_unix_seconds(time: float) -> None:
    """Milliseconds, times before all time and what is no number are refused in every kind of record."""
    with pytest.raises(ValueError, match="time: Unix seconds"):
        StepFrame(**{**ENVELOPE, "time": time}, step=1)
    with pytest.raises(ValueError, match="time: Unix seconds"):
        SampleFrame(**{**ENVELOPE, "time": time}, of="gpu", ids=[])
    with pytest.raises(ValueError, match="time: Unix seconds"):
        Event(**{**ENVELOPE, "time": time}, event="xid")
    with pytest.raises(ValueError, match="time: Unix seconds"):
        Tick(time=time)
    with pytest.raises(ValueError, match="received: Unix seconds"):
        Event(**ENVELOPE, received=time, event="xid")


@pytest.mark.parametrize("time", [0.0, NOW, 9.9e10])
def test_the_edges_of_time(time: float) -> None:
    """The first second and the last one count."""
    assert Event(**{**ENVELOPE, "time": time}, event="xid").time == time


@pytest.mark.parametrize(
    ("ranks", "values", "words"),
    [
        pytest.param([0], {"a": [1.0, 2.0]}, "values.a: 2 readings for 1 ranks", id="too many"),
        pytest.param([0, 1], {"a": [1.0, 2.0], "b": []}, "values.b: 0 readings for 2 ranks", id="none"),
        pytest.param([3, 3], {}, "ranks: a rank stands twice", id="a rank twice"),
    ],
)
def test_readings_stand_for_ranks(ranks: list[int], values: dict[str, list[float | None]], words: str) -> None:
    """Every list has one reading per rank, and every rank stands once."""
    with pytest.raises(ValueError, match=words):
        StepFrame(**ENVELOPE, step=1, ranks=ranks, values=values)


def test_samples_stand_for_ids() -> None:
    """Every list has one reading per id; ranks are given for all ids or for none; an id may stand twice."""
    with pytest.raises(ValueError, match=r"values\.a: 1 readings for 2 ids"):
        SampleFrame(**ENVELOPE, of="gpu", ids=["g", "h"], values={"a": [1.0]})
    with pytest.raises(ValueError, match="ranks: 1 for 2 ids"):
        SampleFrame(**ENVELOPE, of="gpu", ids=["g", "h"], ranks=[1])
    assert SampleFrame(**ENVELOPE, of="gpu", ids=["g", "g"], values={"a": [1.0, 2.0]}).ranks == []


def test_data_of_an_event_can_be_passed_on() -> None:
    """Thirty levels are enough for anybody; more, or what has no name or no place in JSON, is refused."""
    assert Event(**ENVELOPE, event="x", data=_levels(30)).event == "x"
    for data in (_levels(40), {"a": {1: 2}}, {"a": [b"x"]}, {"a": 1 << 64}, {"a": [{"b": -(1 << 64)}]}):
        with pytest.raises(ValueError, match="data: "):
            Event(**ENVELOPE, event="x", data=data)


def _levels(depth: int) -> dict[str, Any]:  # Any: dicts of dicts
    data: dict[str, Any] = {}
    for _ in range(depth):
        data = {"a": data}
    return data


@pytest.mark.parametrize(
    ("reading", "usable"),
    [
        (0.0, True),
        (-3.5, True),
        (1e299, True),
        (1e301, False),
        (-1.7e308, False),
        (None, False),
        (math.nan, False),
        (math.inf, False),
        (-math.inf, False),
    ],
)
def test_usable_readings(reading: float | None, usable: bool) -> None:
    """A reading is used when it is a number with which one can calculate."""
    assert is_finite(reading) is usable


@pytest.mark.parametrize(
    ("value", "count"),
    [(0, 0), (7, 7), (1 << 53, 1 << 53), ((1 << 53) + 1, None), (-1, None), (True, None), (7.0, None), ("7", None)],
)
def test_counts_in_the_data_of_events(value: object, count: int | None) -> None:
    """Data of events have no types of their own, so a count is taken only where there is one."""
    assert as_count(value) == count


def test_counts_that_are_none() -> None:
    """Lists, dicts and null are no counts and no error."""
    assert [as_count(value) for value in (None, [], [1], {}, {"a": 1}, "")] == [None] * 6
