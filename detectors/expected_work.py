"""The time that a rank's load explains: whoever has more tokens in a step may take longer."""

import numpy as np

from detectors.base import Floats, Ints, Memory, require

FADING = 0.98
"""Weight of the past, per row."""
UNEXPLAINED = 0.5
"""A change in the logarithm of the work that is so far from what the load explains teaches nothing: it is a stall."""
BELIEF = 0.05
"""How much variation of the load it takes until what is seen counts as much as what is assumed."""
STEEPEST = 2.0


class ExpectedWorkMemory(Memory):
    """Per rank: its last load and work against its peers, as logarithms; and what is known of how they go together.

    Attributes:
        load: NaN before the first.
        work: likewise.
        both: sum of the products of their changes, fading.
        loads: sum of the squares of the load's changes, likewise.
    """

    load: Floats
    work: Floats
    both: float = 0.0
    loads: float = 0.0


class ExpectedWork:
    """Take out of each rank's own work what its load explains, so that uneven sequences accuse nobody.

    Work grows with a power of the load, 1 for what is done token by token and up to 2 for attention over long
    sequences. The power is learned from how the work of all ranks changes when their load does, from row to row: a rank
    that is always slow, or always has more to do, does not move it.

    Args:
        assumed: the power as long as the load has hardly varied.

    Input: own work in seconds and load in tokens, shape (ranks,), NaN = not known; groups of peers as numbers.
    Output: the seconds that the rank would have worked under its peers' median load; where its load is not known, its
        own work as it is.
    Cost: O(ranks) per row. Memory: 2 numbers per rank.
    Raises: ValueError for a parameter out of range, when built.

    >>> work = ExpectedWork()
    >>> memory = work.blank(3)
    >>> work.without_load(memory, np.array([1.0, 2.0, 1.0]), np.array([64.0, 128.0, 64.0]), np.zeros(3, dtype=np.int64))
    array([1., 1., 1.])
    """

    def __init__(self, assumed: float = 1.0) -> None:
        require(0 <= assumed <= STEEPEST, "assumed", f"0 to {STEEPEST:g}")
        self.assumed = assumed

    def blank(self, width: int) -> ExpectedWorkMemory:
        """Make the memory of so many ranks."""
        return ExpectedWorkMemory(width=width, load=np.full(width, np.nan), work=np.full(width, np.nan))

    def power(self, memory: ExpectedWorkMemory) -> float:
        """Give the power of the load with which the work grows, as it is known now."""
        seen = (memory.both + BELIEF * self.assumed) / (memory.loads + BELIEF)
        return float(np.clip(seen, 0.0, STEEPEST))

    def without_load(self, memory: ExpectedWorkMemory, own: Floats, load: Floats, groups: Ints) -> Floats:
        """Learn from one row, and give the work of its ranks under the same load.

        Args:
            memory: changed in place.
            own: seconds of own work.
            load: tokens, or another measure of how much there was to do.
            groups: whom each rank is compared with.
        """
        usable = (load > 0) & (own > 0) & np.isfinite(load) & np.isfinite(own)
        with np.errstate(invalid="ignore", divide="ignore"):
            loads, works = (_against_peers(np.where(usable, np.log(row), np.nan), groups) for row in (load, own))
        more, longer = loads - memory.load, works - memory.work
        known = np.isfinite(more) & np.isfinite(longer)
        known &= np.abs(np.where(known, longer - self.power(memory) * more, 0.0)) <= UNEXPLAINED
        memory.both = FADING * memory.both + float(np.sum(more[known] * longer[known]))
        memory.loads = FADING * memory.loads + float(np.sum(more[known] ** 2))
        np.copyto(memory.load, loads, where=usable)
        np.copyto(memory.work, works, where=usable)
        level: Floats = np.where(usable, own * np.exp(-self.power(memory) * np.nan_to_num(loads)), own)
        return level


def _against_peers(row: Floats, groups: Ints) -> Floats:
    """Take the median of its group from every rank's value."""
    against = row.copy()
    for group in np.unique(groups):
        members = groups == group
        if np.isfinite(row[members]).any():
            against[members] -= np.nanmedian(row[members])
    return against
