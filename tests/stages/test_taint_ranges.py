"""The ledger of contaminated steps in the forms that trainers read."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from schemas.action import TaintRecord
from streams.taints import merged, skipped_iterations

ranges = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=12
)


def ledger(pairs: list[tuple[int, int]]) -> list[TaintRecord]:
    """One line for each range."""
    return [
        TaintRecord(
            id=str(number),
            job="j",
            attempt=1,
            from_step=begin,
            to_step=end,
            reason="",
            incident="i",
            confidence=1.0,
            layer="data",
            time=0.0,
        )
        for number, (begin, end) in enumerate(pairs)
    ]


@given(ranges)
def test_every_contaminated_step_is_named_once(pairs: list[tuple[int, int]]) -> None:
    """Ranges may overlap and come in any order: the steps are those inside any of them, ascending, each once."""
    inside = {step for begin, end in pairs for step in range(begin, end + 1)}
    assert skipped_iterations(ledger(pairs)) == sorted(inside)


@given(ranges)
def test_merged_ranges_lie_apart(pairs: list[tuple[int, int]]) -> None:
    """No two ranges overlap or touch, so that none is longer than it has to be and none could be left out."""
    told = merged(ledger(pairs))
    assert all(end + 1 < begin for (_, end), (begin, _) in itertools.pairwise(told))
    assert merged(ledger(told)) == told
