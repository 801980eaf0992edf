"""Where each rank usually stands among its peers, and whether it stands out now."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.base import Floats, Ints
from detectors.evidence import FAR, independence
from detectors.own_work import OwnWorkMemory
from detectors.peers import among_peers
from detectors.robust import NORMAL_MAD, centre_and_quartile_spread

LEAST_SPREAD = 0.006
"""Peers are never believed to be more alike than this share."""
MEANT = 200
"""Rows over which a rank's usual place and wandering are means."""
NORMAL_MEAN = 1.2533
"""Mean absolute deviation times this is the standard deviation of a normal distribution."""
MEDIAN_ERROR = 1.2533
"""Standard error of a median, by that of a mean."""


class StandingMemory(OwnWorkMemory):
    """Per rank: its last rows, and where it usually stands.

    Attributes:
        place: its usual median ratio, a fading mean.
        wander: how far its median ratio usually is from there, likewise.
        meant: rows in those means.
    """

    place: Floats
    wander: Floats
    meant: Ints


def blank_standing(width: int) -> dict[str, NDArray[Any]]:  # Any: numbers and row numbers
    """Make the fields that a `StandingMemory` adds."""
    return {"place": np.ones(width), "wander": np.zeros(width), "meant": np.zeros(width, dtype=np.int64)}


def learn_standing(memory: StandingMemory, typical: Floats, healthy: Ints, rows: int = 1) -> None:
    """Note where some healthy ranks stand.

    Args:
        memory: changed in place.
        typical: each rank's median ratio over all rows held, shape (ranks,).
        healthy: indices of the ranks that learn; those whose ring is not yet full do not.
        rows: rows since the last time.
    """
    full = memory.pushed >= memory.ratio.shape[1]
    everybody = healthy.size == memory.width and bool(full.all())
    learn = slice(None) if everybody else healthy[full[healthy]]
    meant = memory.meant[learn] = np.minimum(memory.meant[learn] + rows, MEANT)
    off = typical[learn] - memory.place[learn]
    memory.wander[learn] += (np.abs(off) - memory.wander[learn]) * rows / meant
    memory.place[learn] += off * rows / meant


def above_peers(memory: StandingMemory, typical: Floats, wider: float = 1.0) -> tuple[Floats, Floats]:
    """Give each rank's excess over its peers' median ratio, and the same in standard deviations among the peers.

    Args:
        memory: tells the groups, and how far their members usually wander.
        typical: median ratios, shape (ranks,), NaN where there is none.
        wider: how much further such medians wander than those over all rows held.
    """
    excess = typical - among_peers(typical, memory.group).median
    now = NORMAL_MAD * among_peers(np.abs(excess), memory.group).median
    return excess, excess / np.maximum(now, wider * _usual(memory))


def above_past(memory: StandingMemory, typical: Floats) -> Floats:
    """Give each rank's rise over its own usual place in standard deviations; 0 before that is known.

    Some machines are always a little slower than others: among such peers only a rank's own past shows a small change.
    """
    rise = (typical - memory.place) / _usual(memory)
    return np.where(memory.meant >= memory.ratio.shape[1], rise, 0.0)


def errors(memory: StandingMemory, ratios: Floats, latest: int) -> Floats:
    """Give the standard errors of the ranks' median ratios by their own scatter, over all rows or over the latest.

    The smaller of the two is given: a rank that has become slow in between is scattered over two levels.

    Rows that resemble the one before count for fewer, as is usual among the peers: the rank's own rows would resemble
    each other for the very change that is looked for.

    Args:
        memory: tells the groups.
        ratios: shape (ranks, rows), oldest first, NaN where a rank has fewer.
        latest: rows, at most as many.
    """
    centre, spread = centre_and_quartile_spread(ratios)
    most = FAR * spread[:, None]
    alone = independence(np.nan_to_num(np.clip(ratios - centre[:, None], -most, most)))
    worth = among_peers(np.where(np.isnan(centre), np.nan, alone), memory.group).median
    _, now = centre_and_quartile_spread(ratios[:, -latest:])
    least: Floats = np.fmin(spread / np.sqrt(ratios.shape[1] * worth), now / np.sqrt(latest * worth))
    return MEDIAN_ERROR * least


def _usual(memory: StandingMemory) -> Floats:
    """Standard deviation of the median ratios about their usual places, as is usual among the peers."""
    return np.maximum(NORMAL_MEAN * among_peers(memory.wander, memory.group).median, LEAST_SPREAD)
