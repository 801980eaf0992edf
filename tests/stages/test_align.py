"""Frames of all nodes meet at their step, whatever the order in which they arrive."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.telemetry import StepFrame
from streams.stages.detect import align
from streams.stages.detect.open_steps import Alignment, OpenStep

LATENESS = 10.0


def frame(step: int, node: str = "n1", time: float | None = None, every: int = 1) -> StepFrame:
    """A frame without values; a step takes one second."""
    return StepFrame(
        job="toy", attempt=1, node=node, seq=step, time=float(step) if time is None else time, step=step, every=every
    )


class Clocked:
    """An alignment with a clock that never goes back."""

    def __init__(self) -> None:
        self.alignment = Alignment()
        self.now = 0.0
        self.late = 0

    def feed(self, *frames: StepFrame) -> list[tuple[int, int]]:
        """Feed frames; give steps that closed, with the number of their frames."""
        closed = []
        for one in frames:
            self.now = max(self.now, one.time)
            self.late += not align.add(self.alignment, one, b"", self.now)
            closed += self._closed(align.close_ready(self.alignment, self.now, LATENESS))
        return closed

    def settle(self) -> None:
        """Feed ten steps of two nodes, the first three of which have waited for the lateness: all of them close."""
        self.feed(*(frame(step, node, 0.0 if step < 3 else 10.0) for step in range(10) for node in ("n1", "n2")))

    def rest(self) -> list[tuple[int, int]]:
        """Close what is open."""
        return self._closed(align.close_all(self.alignment))

    def _closed(self, steps: Iterable[OpenStep]) -> list[tuple[int, int]]:
        return [(step.step, len(step.parts)) for step in steps]


def both(steps: range) -> list[StepFrame]:
    """Frames of two nodes."""
    return [frame(step, node) for step in steps for node in ("n1", "n2")]


def test_a_complete_step_closes_at_once() -> None:
    """Once the sources are known, a step closes with the last of its frames and not a second later."""
    clocked = Clocked()
    clocked.settle()
    assert clocked.feed(frame(10, "n1")) == []
    assert clocked.feed(frame(10, "n2")) == [(10, 2)]


def test_the_first_steps_wait_for_who_takes_part() -> None:
    """Before the sources are known, a step closes only when the lateness has passed."""
    clocked = Clocked()
    assert clocked.feed(frame(0, "n1"), frame(1, "n1"), frame(2, "n1"), frame(9, "n1"), frame(0, "n2")) == []
    assert clocked.feed(frame(10, "n1")) == [(0, 2)]


def test_a_missing_frame_is_waited_for_and_then_not() -> None:
    """A step that lacks a frame closes when the lateness has passed, with what it has; so do those behind it."""
    clocked = Clocked()
    clocked.settle()
    assert clocked.feed(frame(10, "n1"), *both(range(11, 20))) == []
    assert clocked.feed(frame(20, "n1")) == [(10, 1), *((step, 2) for step in range(11, 20))]
    assert clocked.late == 0
    assert clocked.feed(frame(10, "n2")) == []
    assert clocked.late == 1


def test_a_source_that_went_away_is_waited_for_five_times() -> None:
    """After five steps without a source, steps close without it; when it is back, it is waited for again."""
    clocked = Clocked()
    clocked.feed(*both(range(10)))
    clocked.feed(*(frame(step, "n1") for step in range(10, 40)))
    assert clocked.feed(frame(40, "n1")) == [(40, 1)]
    clocked.feed(frame(41, "n2"), frame(41, "n1"))
    assert clocked.feed(frame(42, "n1")) == []
    assert clocked.feed(frame(42, "n2")) == [(42, 2)]


@pytest.mark.parametrize("absent", [range(10, 30), range(30)], ids=["back from an absence", "new"])
def test_a_source_that_speaks_last_is_waited_for(absent: range) -> None:
    """Who comes when all others have spoken already is too late once, and then has its place in every step."""
    clocked = Clocked()
    closed = clocked.feed(*(one for one in both(range(40)) if one.node == "n1" or one.step not in absent))
    assert closed[30:] == [(30, 1), *((step, 2) for step in range(31, 40))]
    assert clocked.late == 1


def test_a_source_that_lags_behind_is_not_waited_for() -> None:
    """Who comes later than the lateness would hold up every step for nothing."""
    clocked = Clocked()
    clocked.feed(*both(range(20)))
    closed = clocked.feed(*(frame(*one) for step in range(20, 80) for one in ((step, "n1"), (step - 15, "n2"))))
    assert closed[-1] == (79, 1)


def test_a_source_of_every_tenth_step_is_not_waited_for() -> None:
    """Who says that it comes every k steps is not missed in between."""
    clocked = Clocked()
    log = [frame(step, "log", every=10) for step in range(0, 30, 10)]
    clocked.feed(*sorted([*both(range(30)), *log], key=lambda one: one.step))
    assert clocked.feed(*both(range(31, 32)), frame(30, "n1"), frame(30, "n2")) == [(30, 2), (31, 2)]


def test_steps_of_a_sparse_job_close_one_by_one() -> None:
    """Where all frames come every tenth step, the next one expected is ten steps further on."""
    clocked = Clocked()
    closed = clocked.feed(*(frame(step, "log", every=10) for step in range(0, 200, 10)))
    assert closed == [(step, 1) for step in range(0, 190, 10)] + [(190, 1)]


def test_a_gap_in_the_steps_holds_up_for_the_lateness_only() -> None:
    """A step that nobody reports might still come; after the lateness the next one closes without it."""
    clocked = Clocked()
    clocked.settle()
    assert clocked.feed(*both(range(11, 15))) == []
    assert [step for step, _ in clocked.feed(frame(21, "n1"))] == [11, 12, 13, 14]


def test_a_frame_that_comes_twice_is_one_source() -> None:
    """A frame repeated under another number does not stand in for the other node's."""
    clocked = Clocked()
    clocked.settle()
    assert clocked.feed(frame(10, "n1"), frame(10, "n1")) == []


def test_so_many_open_steps_are_not_kept() -> None:
    """A source with a clock that stands still cannot fill the memory with open steps."""
    clocked = Clocked()
    for step in range(0, 2 * (align.MOST_OPEN + 100), 2):
        clocked.feed(frame(step, "n1", time=5.0))
    assert len(clocked.alignment.open) <= align.MOST_OPEN


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 9)), min_size=24, max_size=24))
def test_order_within_the_lateness_does_not_matter(delays: list[tuple[int, int]]) -> None:
    """Steps close in order, each with all its frames, however frames overtake each other within the lateness."""
    frames = both(range(6, 18))
    arrivals = sorted(zip(frames, delays, strict=True), key=lambda pair: (pair[0].step + pair[1][0], pair[1][1]))
    clocked = Clocked()
    closed = clocked.feed(*both(range(6)), *(one for one, _ in arrivals)) + clocked.rest()
    assert closed == [(step, 2) for step in range(18)]
    assert clocked.late == 0


@pytest.mark.parametrize("missing", [0, 1, 11])
def test_the_end_closes_everything(missing: int) -> None:
    """When the attempt ends, what is open closes in order, complete or not."""
    clocked = Clocked()
    frames = [one for one in both(range(12)) if (one.step, one.node) != (missing, "n2")]
    closed = clocked.feed(*frames) + clocked.rest()
    assert [step for step, _ in closed] == list(range(12))
