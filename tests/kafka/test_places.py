"""The ceiling of a copy: no reader is ever shown a place before one that is still to come."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.kafka.places import HOLE_SECONDS, Ceiling

COURSES: dict[str, tuple[int, list[list[int]], int]] = {
    "nothing yet": (0, [[]], 0),
    "one after another": (0, [[1], [2], [3]], 3),
    "the second before the first": (0, [[2], [1]], 2),
    "a gap": (0, [[1, 3, 4]], 1),
    "a gap that closes": (0, [[1, 3, 4], [2]], 4),
    "two gaps, one closed": (0, [[2, 4, 1]], 2),
    "the same again": (0, [[1, 2], [2, 1], [3, 3]], 3),
    "what was shown before": (10, [[3, 9, 10]], 10),
    "on from what was shown before": (10, [[12], [11]], 12),
}


@pytest.mark.parametrize(("shown", "batches", "height"), COURSES.values(), ids=COURSES)
def test_where_the_ceiling_stands(shown: int, batches: list[list[int]], height: int) -> None:
    """It stands at the last place below which everything has come."""
    ceiling = Ceiling(shown)
    for batch in batches:
        ceiling.add(batch, 0.0)
    assert (ceiling.height, ceiling.holes) == (height, 0)


@given(places=st.permutations(range(1, 31)), cuts=st.lists(st.integers(0, 30), max_size=6), again=st.integers(0, 30))
def test_in_any_order_nothing_is_shown_before_its_time(places: list[int], cuts: list[int], again: int) -> None:
    """However places come, cut into batches and partly twice: never too high, never lower again, in the end all."""
    ceiling, come, before = Ceiling(0), set[int](), 0
    edges = sorted({0, *cuts, len(places)})
    batches = [places[begin:end] for begin, end in itertools.pairwise(edges)]
    for batch in [*batches, places[:again]]:
        ceiling.add(list(batch), 0.0)
        come |= set(batch)
        assert ceiling.height == max(one for one in range(31) if come >= set(range(1, one + 1)))
        assert ceiling.height >= before
        before = ceiling.height
    assert (ceiling.height, ceiling.holes) == (30, 0)


def test_a_hole_is_waited_for_and_then_passed() -> None:
    """A place whose record the log no longer holds keeps everything above it back for a time, not for ever."""
    ceiling = Ceiling(0)
    ceiling.add([1, 3, 4, 7], 100.0)
    ceiling.add([], 100.0 + HOLE_SECONDS)
    assert ceiling.height == 1
    ceiling.add([], 100.1 + HOLE_SECONDS)
    assert (ceiling.height, ceiling.holes) == (4, 1)
    ceiling.add([], 101.0 + HOLE_SECONDS)
    ceiling.add([], 100.9 + 2 * HOLE_SECONDS)
    assert ceiling.height == 4
    ceiling.add([], 101.1 + 2 * HOLE_SECONDS)
    assert (ceiling.height, ceiling.holes) == (7, 2)


def test_time_is_counted_from_the_last_move() -> None:
    """A copy that gets on, however slowly, is not taken to have holes."""
    ceiling = Ceiling(0)
    for number in range(1, 20):
        ceiling.add([number, number + 100], number * HOLE_SECONDS * 0.9)
    assert (ceiling.height, ceiling.holes) == (19, 0)


def test_what_the_log_holds_is_all_there_is() -> None:
    """Once everything the log held has been copied, places below it that never came belong to nothing."""
    ceiling = Ceiling(2)
    ceiling.add([5, 9], 0.0)
    ceiling.start(8)
    assert ceiling.height == 9
    ceiling.start(4)
    assert ceiling.height == 9
