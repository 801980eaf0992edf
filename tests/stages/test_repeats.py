"""Records that come more than once, late, or from a source that has started anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.telemetry import Event
from streams.stages.detect.repeats import MOST_SOURCES, WINDOW, Seen, is_repeated


def record(seq: int, time: float | None = None, node: str = "n1", boot: str = "") -> Event:
    """A record whose time goes with its number, unless it is said."""
    moment = float(seq) if time is None else time
    return Event(job="toy", attempt=1, node=node, boot=boot, seq=seq, time=moment, event="log.line")


def verdicts(*records: Event) -> list[bool]:
    """Which of these are taken for repeated."""
    seen: dict[str, Seen] = {}
    return [is_repeated(seen, one) for one in records]


@pytest.mark.parametrize(
    ("records", "wanted"),
    [
        pytest.param([record(0), record(0)], [False, True], id="the same once more"),
        pytest.param([record(5), record(3), record(3)], [False, False, True], id="overtaken, then repeated"),
        pytest.param([record(0, node="n1"), record(0, node="n2")], [False, False], id="every source counts for itself"),
        pytest.param([record(7), record(7, boot="b")], [False, False], id="so does every start of a source"),
        pytest.param([record(9), record(0, time=10.0)], [False, False], id="a number never seen is new"),
        pytest.param(
            [record(0), record(1), record(0, time=9.0), record(1, time=10.0), record(1, time=10.0)],
            [False, False, False, False, True],
            id="a source that starts anew without saying so",
        ),
        pytest.param([record(0), record(1), record(0, time=1.0)], [False, False, True], id="old and no younger"),
        pytest.param([record(WINDOW + 1), record(1)], [False, True], id="too old to be remembered"),
        pytest.param([record(WINDOW), record(1)], [False, False], id="just young enough"),
        pytest.param(
            [record(0), record(1), record(3 * WINDOW), record(3 * WINDOW - 2 * WINDOW + 1)],
            [False, False, False, True],
            id="a gap longer than the window forgets all",
        ),
        pytest.param(
            [record(0), record(2 * WINDOW), record(WINDOW + 1), record(WINDOW + 1)],
            [False, False, False, True],
            id="a slot of the window is not taken for its old owner",
        ),
    ],
)
def test_what_is_a_repetition(records: list[Event], wanted: list[bool]) -> None:
    """A record is dropped if its source said this number before, or said so much since that nobody knows."""
    assert verdicts(*records) == wanted


@given(st.lists(st.integers(0, 400), max_size=200))
def test_within_the_window_a_set_says_the_same(numbers: list[int]) -> None:
    """In whatever order numbers come, each is new exactly once."""
    known: set[int] = set()
    wanted = []
    for number in numbers:
        wanted.append(number in known)
        known.add(number)
    assert verdicts(*(record(number) for number in numbers)) == wanted


@given(st.integers(0, 2**32), st.lists(st.integers(0, 3 * WINDOW), min_size=1, max_size=60))
def test_nothing_is_taken_twice(first: int, offsets: list[int]) -> None:
    """However far numbers lie apart, no record is taken more than once."""
    seen: dict[str, Seen] = {}
    numbers = [first + offset for offset in offsets]
    taken = [number for number in numbers + numbers if not is_repeated(seen, record(number))]
    assert len(taken) == len(set(taken))


def test_memory_of_sources_is_bounded() -> None:
    """Of too many sources the one that was silent for longest is forgotten."""
    seen: dict[str, Seen] = {}
    for number in range(MOST_SOURCES + 1):
        is_repeated(seen, record(0, time=float(number), node=f"n{number}"))
    assert len(seen) == MOST_SOURCES
    assert not any(source.startswith("n0\x1f") for source in seen)
    assert is_repeated(seen, record(0, time=1.0, node="n1"))


def test_a_late_record_of_the_time_before_does_no_harm() -> None:
    """After a silent restart, a straggler from before it neither blocks the new numbers nor comes twice."""
    seen: dict[str, Seen] = {}
    old = [record(number) for number in range(100) if number != 90]
    anew = [record(number, time=1000.0 + number) for number in range(100)]
    assert not any(is_repeated(seen, one) for one in (*old, *anew[:10], record(90), *anew[10:90], *anew[91:]))
    assert isinstance(next(iter(seen.values())).flags, np.ndarray)
