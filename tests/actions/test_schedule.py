"""When the next try may follow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playbooks.retry import Schedule


@given(
    tries=st.integers(1, 100),
    first=st.floats(0.001, 100),
    factor=st.floats(1, 10),
    longest=st.floats(0.001, 1000),
    seconds=st.floats(0.1, 10_000),
    asked=st.one_of(st.none(), st.floats(0, 1e9)),
)
def test_a_schedule_ends(
    tries: int, first: float, factor: float, longest: float, seconds: float, asked: float | None
) -> None:
    """However it is set and whatever is asked, it ends within its number of tries and within its time."""
    schedule = Schedule(tries=tries, first=first, factor=factor, longest=longest, seconds=seconds)
    done, elapsed = 1, 0.0
    while (wait := schedule.wait(done, elapsed, asked)) is not None:
        assert wait >= (asked or 0.0)
        elapsed += wait
        done += 1
        assert done <= tries
    assert elapsed <= seconds


CASES: dict[str, tuple[int, float, float | None, float | None]] = {
    "first": (1, 0.0, None, 1.0),
    "grows": (3, 4.0, None, 9.0),
    "no longer than the longest": (4, 13.0, None, 20.0),
    "as long as asked": (1, 0.0, 30.0, 30.0),
    "less was asked than we wait anyway": (3, 4.0, 2.0, 9.0),
    "asked for more than there is": (1, 0.0, 3600.0, None),
    "tried often enough": (6, 60.0, None, None),
    "out of time": (4, 95.0, None, None),
}


@pytest.mark.parametrize(("tries", "elapsed", "asked", "wait"), CASES.values(), ids=CASES)
def test_waits(tries: int, elapsed: float, asked: float | None, wait: float | None) -> None:
    """Waits grow up to a longest one, heed the other side, and end."""
    schedule = Schedule(tries=6, first=1.0, factor=3.0, longest=20.0, seconds=100.0)
    assert schedule.wait(tries, elapsed, asked) == wait
