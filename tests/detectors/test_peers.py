"""What the members of a group have in common."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from detectors.peers import among_peers, middle

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


@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 2, 400, 401, 1000, 1024, 5003]),
    st.sampled_from([0, 1, 2, 5]),
    st.data(),
)
def test_the_middle_is_the_median_whatever_the_sample_says(
    seed: int, count: int, digits: int, data: st.DataObject
) -> None:
    """Equal values, an order that misleads the sample, and two clusters change nothing, to the last bit."""
    values = np.random.default_rng(seed).normal(size=count).round(digits)
    match data.draw(st.sampled_from(["as drawn", "sorted", "two clusters", "the sample lies high"])):
        case "sorted":
            values.sort()
        case "two clusters":
            values[::2] += 100.0
        case "the sample lies high":
            values[:: max(count // 200, 1)] += 50.0
    low, high = np.sort(values)[[(count - 1) // 2, count // 2]]
    assert middle(values) == (low + high) / 2
