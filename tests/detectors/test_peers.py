"""What the members of a group have in common."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from detectors.peers import among_peers

MEMBERS = st.lists(st.tuples(st.integers(-1, 3), st.one_of(st.integers(0, 5).map(float), st.just(float("nan")))))


@given(MEMBERS)
def test_agrees_with_the_slow_way(members: list[tuple[int, float]]) -> None:
    """Median, largest of the others and number of those that report are those of the group, member by member."""
    group = np.array([g for g, _ in members], dtype=np.int64)
    values = np.array([v for _, v in members])
    found = among_peers(values, group)
    for place, (mine, value) in enumerate(members):
        reporting = values[(group == mine) & ~np.isnan(values)]
        others = np.delete(values, place)[np.delete(group, place) == mine]
        others = others[~np.isnan(others)]
        assert found.reporting[place] == reporting.size
        np.testing.assert_equal(found.median[place], np.median(reporting) if reporting.size else np.nan)
        if not np.isnan(value):
            np.testing.assert_equal(found.rest[place], others.max() if others.size else np.nan)
