"""Rows that stand out at one distance from each other and by one height: a job's plan, and no finding."""

import numpy as np

from detectors.base import Flags, Floats, Ints

ROUND = (100, 125)
"""People plan by round numbers: a multiple of these is where evaluations and saves are."""
ROUND_DISTANCE = 25
"""What is planned at such distances comes exactly; other distances, say the ends of shards, wander by a row."""
TALL = 4.0
"""Times the level that a row at a round number may be without a word."""
BURST = 100
"""At distances shorter than this, a like row in between that is off the plan disproves it: bursts fit by chance."""
DENSE = 3
"""More rows than this within as many of the shortest distances are no plan but an illness."""


class Planned:
    """Remember the rows that stood out, and say how high a row may stand because of those before it.

    A row is expected where two earlier ones of like height are as far from each other as it is from the later of them,
    give or take a little; the beginning of the series stands for the earlier one. Up to `missing` of the rows between
    may have stayed away, and one that has come already leaves nothing to expect. Rows at round numbers, where people
    evaluate and save, are expected from the first.

    Args:
        held: rows remembered.
        least: shortest distance that is a plan; shorter ones are a pattern of the steps themselves.
        alike: heights are alike when neither excess is more than this times the other.
        missing: rows of the plan that may be missing between two.
        about: rows by which a planned row may be early or late.
        wander: or so much of the distance, where that is more and no round number: ends of shards wander.
    """

    def __init__(
        self,
        held: int = 12,
        least: int = 12,
        alike: float = 1.7,
        missing: int = 3,
        about: int = 1,
        wander: float = 0.02,
    ) -> None:
        self.held, self.least, self.alike, self.missing, self.about = held, least, alike, missing, about
        self.wander = wander

    def blank(self, width: int) -> tuple[Ints, Floats]:
        """Give the places and heights of series that have shown nothing yet."""
        return np.full((width, self.held), -1, dtype=np.int64), np.full((width, self.held), np.nan)

    def note(self, places: Ints, heights: Floats, index: int, height: float) -> None:
        """Remember a row that stood out; the oldest is forgotten. Neighbours count once, by the first of them."""
        if places[-1] >= 0 and index - places[-1] <= 2 * self.about:
            return
        places[:-1], heights[:-1] = places[1:], heights[1:]
        places[-1], heights[-1] = index, height

    def height(self, places: Ints, heights: Floats, index: int, height: float) -> float:
        """Give the height that was to be expected at a row, a multiple of the level; 1.0 where nothing was.

        Args:
            places: shape (held,), oldest first, -1 = none.
            heights: same shape, multiples of the level.
            index: the row.
            height: what it shows.
        """
        like = (places >= 0) & self._alike(heights, height)
        later, tall = places[like], heights[like]
        if np.count_nonzero(index - later < DENSE * self.least) > DENSE:
            return 1.0
        if index > 0 and _is_round(index) and height <= TALL:
            return height
        if not later.size:
            return 1.0
        found = self._fits(later, index).any(axis=1)
        return float(np.median(tall[found])) if found.any() else 1.0

    def _fits(self, later: Ints, index: int) -> Flags:
        """Tell which pairs of like rows have this row as their next; shape (rows, 1 + rows), the start first."""
        apart = later[:, None] - np.concatenate(([0], later))[None, :]
        away = index - later[:, None]
        times = np.rint(away / np.maximum(apart, 1))
        exact = _is_round(later)[:, None] | (apart % ROUND_DISTANCE == 0)
        about = np.maximum(self.about, self.wander * apart)
        fits = (apart >= self.least) & (times >= 1) & (times <= 1 + self.missing)
        fits &= np.abs(away - times * apart) <= np.where(exact, 0, about)
        there = np.abs(later[:, None] + times * apart - later[:, None, None]) <= about  # first axis: rows already there
        there &= later[:, None, None] > later[:, None]
        return np.asarray(fits & ~there.any(axis=0) & ((apart >= BURST) | ~self._disproved(later, apart, index)))

    def _disproved(self, later: Ints, apart: Ints, index: int) -> Flags:
        """Tell, for each pair, whether a like row since the earlier one is not where the plan has its rows."""
        distance = np.maximum(apart, 1)[:, :, None]
        off = (index - later) % distance
        stray = np.minimum(off, distance - off) > self.about
        since = later > (later[:, None] - apart)[:, :, None]
        return np.asarray((stray & since).any(axis=2))

    def _alike(self, heights: Floats, height: float) -> Flags:
        excess = np.maximum(heights - 1, 1e-9)
        return np.asarray((height - 1 <= self.alike * excess) & (excess <= self.alike * (height - 1)))


def _is_round(rows: Ints | int) -> Flags:
    return np.asarray(np.any(np.asarray(rows)[..., None] % np.array(ROUND) == 0, axis=-1))
