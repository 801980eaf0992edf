"""Frames of a node from the lines of its ranks."""

import math

from hypothesis import given
from hypothesis import strategies as st

from schemas.codec import decode, encode
from streams.agents.assemble import Assembler
from streams.agents.rank_file import Line, Source
from streams.agents.stamp import Stamp
from streams.agents.tail import Mark

ALL = {("j", 1): frozenset({0, 1, 2})}


def line(step: int, rank: int, **job_values: float) -> Line:
    """Make the line of a rank."""
    return Line(n=step, t=100.0 + step + rank / 10, s=step, v={"step_seconds": 1.0 + rank}, j=dict(job_values))


def add(assembler: Assembler, step: int, rank: int, now: float, **job_values: float) -> None:
    """Give the line of a rank to the assembler."""
    assembler.add(Source("j", 1, rank), line(step, rank, **job_values), Mark(rank, step * 100), now)


def test_a_complete_step_goes_at_once() -> None:
    """When all known ranks have written a step its frame is made, with the ranks in order and the latest time."""
    assembler = Assembler(linger=0.5)
    add(assembler, 7, 2, now=0.0)
    add(assembler, 7, 0, now=0.1, loss=2.5)
    assert assembler.take(0.2, ALL) == []
    add(assembler, 7, 1, now=0.2)
    (frame,) = assembler.take(0.2, ALL)
    assert (frame.step, frame.ranks, frame.time) == (7, [0, 1, 2], 107.2)
    assert frame.values == {"step_seconds": [1.0, 2.0, 3.0]}
    assert frame.job_values == {"loss": 2.5}
    assert list(assembler.pending()) == []


def test_late_ranks_come_in_a_second_frame() -> None:
    """After the linger the frame goes without the late ranks; they follow in one of the same step, alone."""
    assembler = Assembler(linger=0.5)
    add(assembler, 7, 0, now=0.0)
    assert assembler.take(0.4, ALL) == []
    (first,) = assembler.take(0.5, ALL)
    add(assembler, 7, 2, now=0.6)
    add(assembler, 7, 1, now=0.7)
    (second,) = assembler.take(1.1, ALL)
    assert (first.ranks, second.ranks) == ([0], [1, 2])
    assert first.step == second.step == 7


def test_a_value_that_a_rank_lacks_is_absent() -> None:
    """A signal that only some ranks report is None for the others, and NaN stays NaN on the wire."""
    assembler = Assembler(linger=0.0)
    assembler.add(Source("j", 1, 0), Line(n=0, t=1.0, s=1, v={"a": 1.0, "b": math.nan}), Mark(0, 0), 0.0)
    assembler.add(Source("j", 1, 1), Line(n=0, t=1.0, s=1, v={"a": 2.0}, j={"loss": math.inf}), Mark(1, 0), 0.0)
    (frame,) = assembler.take(0.0, {})
    assert frame.values["a"] == [1.0, 2.0]
    assert frame.values["b"][1] is None
    raw = encode(Stamp("n01", "default", 1.0, 2).steps(frame))
    assert b'"NaN"' in raw
    assert b'"Infinity"' in raw
    decode(raw)


def test_the_lowest_rank_speaks_for_the_job() -> None:
    """Where several ranks give the same value of the job, the lowest one's is taken."""
    assembler = Assembler(linger=0.0)
    add(assembler, 1, 2, 0.0, loss=3.0, grad_norm=0.1)
    add(assembler, 1, 0, 0.0, loss=2.0)
    (frame,) = assembler.take(0.0, ALL)
    assert frame.job_values == {"loss": 2.0, "grad_norm": 0.1}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.booleans()), max_size=60, unique_by=lambda x: x[:2]))
def test_every_line_is_in_one_frame(arrivals: list[tuple[int, int, bool]]) -> None:
    """In whatever order lines come and however often frames are taken, each is in one frame or still pending."""
    assembler, frames = Assembler(linger=0.5), []
    for moment, (step, rank, taken) in enumerate(arrivals):
        add(assembler, step, rank, now=moment * 0.2)
        if taken:
            frames += assembler.take(moment * 0.2, ALL)
    framed = [(frame.step, rank) for frame in frames for rank in frame.ranks]
    assert len(framed) + len(list(assembler.pending())) == len(arrivals)
    framed += [(frame.step, rank) for frame in assembler.take_all() for rank in frame.ranks]
    assert sorted(framed) == sorted((step, rank) for step, rank, _ in arrivals)
