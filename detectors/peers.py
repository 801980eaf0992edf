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
    """What a row says in which every member of groups of one size reports.

    Attributes:
        ratio: each member's value over the median of its group, in the order of the row.
        slowest: place in the row of each group's slowest member, shape (groups,); a number where there is one group.
        saving: share of that member's value that would be saved if it were as the second, likewise.
    """

    ratio: Floats
    slowest: Ints | int
    saving: Floats | float


def whole_row(values: Floats, group: Ints, least: int, apart: int) -> Whole | None:
    """Compare a row in which everybody reports a positive value: a fifth of the cost.

    Args:
        values: shape (members,).
        group: shape (members,).
        least: members that a group must have.
        apart: number of the group that is not compared.

    Returns:
        None where somebody is silent or apart, or the groups are not of one size.
    """
    if not (values.size >= max(least, 2) and values[values.argmin()] > 0):  # a NaN is the least
        return None
    if is_one_number(group):
        return _one_group(values) if group[0] != apart else None
    layout = _layout(group.tobytes(), apart)
    if layout is None or layout.members.shape[1] < least:
        return None
    return _equal_groups(values, layout)


def is_one_number(values: Ints) -> bool:
    """Tell whether all are the same: the least and the largest by their places, in half the time of a comparison."""
    return bool(values[values.argmin()] == values[values.argmax()])


def _one_group(values: Floats) -> Whole:
    slowest = int(values.argmax())
    others = values.copy()
    others[slowest] = 0.0
    saving = 1 - float(others[others.argmax()]) / float(values[slowest])
    return Whole(values / middle(values), slowest, saving)


def _equal_groups(values: Floats, layout: "_Layout") -> Whole:
    groups, count = layout.members.shape
    rows = values.reshape(groups, count) if layout.straight else values[layout.members]
    ordered = np.sort(rows, axis=1)  # no slower than a partition at four places
    ratio = rows / ((ordered[:, (count - 1) // 2, None] + ordered[:, count // 2, None]) / 2)
    slowest: Ints = layout.members[np.arange(groups), rows.argmax(axis=1)]
    saving: Floats = 1 - ordered[:, -2] / ordered[:, -1]
    if layout.straight:
        return Whole(ratio.reshape(-1), slowest, saving)
    row = np.empty(values.size)
    row[layout.members] = ratio
    return Whole(row, slowest, saving)


SAMPLE = 200
"""Values out of many that say about where the median lies."""
ROOTS = 2.5
"""Half the width of the band around it, in standard deviations of the place of a sample's median."""


def middle(values: Floats) -> float:
    """Median of numbers without a NaN: a sample says between which two values it lies, and only those are sorted.

    Args:
        values: shape (members,), at least one.
    Cost: O(members); half of that of a sort for 1,024, and no dearer where the sample misleads.

    >>> middle(np.array([4.0, 1.0, 3.0, 8.0]))
    3.5
    """
    count = values.size
    low, high = (count - 1) // 2, count // 2
    if count <= 2 * SAMPLE:
        ordered = np.sort(values)
        return float(ordered[low] + ordered[high]) / 2
    sample = np.sort(values[:: count // SAMPLE])
    centre, reach = sample.size // 2, int(ROOTS / 2 * sample.size**0.5) + 1
    under = values < sample[centre - reach]
    band = values <= sample[centre + reach]
    band ^= under
    skipped = int(np.count_nonzero(under))
    within = values.compress(band)
    within.sort()
    if low < skipped or high >= skipped + within.size:  # the sample was not like the rest
        within, skipped = np.sort(values), 0
    return float(within[low - skipped] + within[high - skipped]) / 2


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
