"""Stages that nobody told of: ranks at either end of the job that have had other work than the rest from the first."""

import numpy as np

from detectors.base import Floats
from streams.stages.detect.open_steps import Participants

LEARNING = 8
"""Steps after which it is looked at, once."""
APART = 0.05
"""Least difference of their work from that of the others, relative."""
ALIKE = 0.25
"""Most that they may differ among themselves, as a share of that."""


def guess(people: Participants, own: Floats) -> None:
    """Give the first or last ranks a group of their own, where the launcher did not say who does what.

    The first and the last stage of a pipeline have more to do than the others, all of their ranks the same, and as many
    ranks as any. Who was slow from the first step on may as well be at fault; where that cannot be told, nobody is
    blamed, and from here on they are held against each other.

    Args:
        people: changed in place.
        own: seconds of work of each rank, as usual, shape (ranks,).
    """
    order = np.argsort(np.array(people.ranks))
    work = own[order]
    if len(work) < 4 or not np.isfinite(work).all() or not (work > 0).all():
        return
    middle = float(np.median(work))
    for group, side in ((1, order), (2, order[::-1])):
        size = _block(own[side] / middle - 1.0)
        for place in side[:size].tolist():
            people.groups[place] = group


def _block(excess: Floats) -> int:
    """How many ranks, counted from an end, stand apart from the rest and together; 0 where it is no stage."""
    apart = np.abs(excess) >= APART
    size = int(np.argmin(apart)) if not apart.all() else 0
    if size < 2 or len(excess) % size or 2 * size > len(excess):
        return 0
    mine = excess[:size]
    return size if float(np.ptp(mine)) <= ALIKE * abs(float(np.median(mine))) else 0
