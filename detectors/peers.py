"""What the members of a group have in common: their median, and the largest of the others."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from detectors.base import Floats, Ints


class Peers(NamedTuple):
    """Per member, in the order given.

    Attributes:
        median: median of its group, its own value included; NaN where nobody reports.
        rest: largest value of the others in its group; NaN where there is no other.
        reporting: members of its group that have a value.
    """

    median: Floats
    rest: Floats
    reporting: Ints


def among_peers(values: Floats, group: Ints) -> Peers:
    """Compare each value with those of its group.

    Args:
        values: shape (members,), NaN = does not report.
        group: shape (members,), any numbers.
    Cost: O(members log members), 60 µs for 1,024.

    >>> peers = among_peers(np.array([1.0, 9.0, 2.0, 3.0, np.nan]), np.array([0, 7, 0, 0, 7]))
    >>> peers.median.tolist(), peers.rest.tolist(), peers.reporting.tolist()
    ([2.0, 9.0, 2.0, 2.0, 9.0], [3.0, nan, 3.0, 2.0, 9.0], [3, 1, 3, 3, 1])
    """
    if values.size == 0:
        return Peers(values, values, group)
    order = np.lexsort((values, group))  # by group, then by value, NaN last
    ordered, groups = values[order], group[order]
    first = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    counts = np.add.reduceat((~np.isnan(ordered)).astype(np.int64), first)
    low, high = first + np.maximum(counts - 1, 0) // 2, first + np.minimum(counts // 2, np.maximum(counts - 1, 0))
    middle = (ordered[low] + ordered[high]) / 2  # a group without a value has NaN in its first place
    largest = ordered[first + np.maximum(counts - 1, 0)]
    second = np.where(counts > 1, ordered[first + np.maximum(counts - 2, 0)], np.nan)
    place = np.empty(values.size, dtype=np.int64)
    place[order] = np.repeat(np.arange(first.size), np.diff(first, append=values.size))
    rest = np.where(values == largest[place], second[place], largest[place])
    return Peers(middle[place], rest, counts[place])


class Whole(NamedTuple):
    """What a row says in which every member of groups of one size reports, shape (groups, members).

    Attributes:
        values: of the members.
        median: of each group, shape (groups, 1).
        slowest: place in the row of each group's slowest member, shape (groups,).
        saving: share of that member's value that would be saved if it were as the second, shape (groups,).
        members: their places in the row; None where they stand in it in this order.
    """

    values: Floats
    median: Floats
    slowest: Ints
    saving: Floats
    members: Ints | None

    def in_row(self, values: Floats) -> Floats:
        """Bring values by group back into the order of the row."""
        if self.members is None:
            return values.reshape(-1)
        row = np.empty(self.values.size)
        row[self.members] = values
        return row


def whole_row(values: Floats, group: Ints, least: int, apart: int) -> Whole | None:
    """Compare a row in which everybody reports a positive value: a third of the cost.

    Args:
        values: shape (members,).
        group: shape (members,).
        least: members that a group must have.
        apart: number of the group that is not compared.

    Returns:
        None where somebody is silent or apart, or the groups are not of one size.
    """
    if not (values.size and values.min() > 0):
        return None
    layout = _layout(group.tobytes(), apart)
    if layout is None or layout.members.shape[1] < least:
        return None
    groups, count = layout.members.shape
    rows = values.reshape(groups, count) if layout.straight else values[layout.members]
    ordered = np.sort(rows, axis=1)  # no slower than a partition at four places
    middle = (ordered[:, (count - 1) // 2, None] + ordered[:, count // 2, None]) / 2
    each, largest = np.arange(groups), rows.argmax(axis=1)
    return Whole(
        rows,
        middle,
        layout.members[each, largest],
        1 - ordered[:, -2] / ordered[:, -1],
        None if layout.straight else layout.members,
    )


class _Layout(NamedTuple):
    """Members by group, shape (groups, members of one); `straight` where they stand in this order already."""

    members: Ints
    straight: bool


@lru_cache(maxsize=64)
def _layout(group: bytes, apart: int) -> _Layout | None:
    """Lay the members out by group; None where groups differ in size, or somebody is apart or alone."""
    numbers = np.frombuffer(group, dtype=np.int64)
    found, counts = np.unique(numbers, return_counts=True)
    if apart in found or (counts != counts[0]).any() or counts[0] < 2:
        return None
    members = np.argsort(numbers, kind="stable")
    return _Layout(members.reshape(counts.size, -1), bool((members[1:] > members[:-1]).all()))
