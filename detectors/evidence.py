"""Whether a change is remarkable for a signal that we know only by its own past."""

import math

import numpy as np

from detectors.base import Floats
from detectors.robust import median

FAR = 3.0
"""Standard deviations that one row may count for."""
RARE = 0.98
"""Quantile of the past rows that a signal reaches as a matter of course."""


def farthest_stretch(past: Floats, length: int) -> float:
    """Give the largest median of so many consecutive rows.

    Args:
        past: shape (rows,), finite, at least `length` rows.
        length: rows of a stretch.

    >>> farthest_stretch(np.array([0.0, 9.0, 1.0, 1.0, 1.0, 0.0]), 3)
    1.0
    """
    return float(median(np.lib.stride_tricks.sliding_window_view(past, length)).max())


def surprise(past: Floats, since: Floats, height: float) -> float:
    """Say how unlikely the rows since are, if nothing has changed, in natural logarithms: 10 is once in e^10.

    It counts the rows that are nearer to the new level than to the old one, in the past and since. A signal that
    wanders repeats itself from row to row, so its rows count for fewer, unless it goes where it never went.

    Args:
        past: standard deviations from the healthy level in the direction of the change, shape (rows,), finite.
        since: the same for the rows since the change.
        height: the new level, in the same measure, above 0.
    Source: M. S. Bartlett, Journal of the Royal Statistical Society 98 (1935), 536-543, for the worth of rows that are
        alike.

    >>> round(surprise(np.zeros(98), np.full(5, 8.0), 8.0), 1)
    23.0
    """
    far, now = past > height / 2, since > height / 2
    chance = unlikely(int(far.sum()), far.size, int(now.sum()), now.size)
    if chance > 0 and height < 2 * np.quantile(past, RARE):
        chance *= float(independence(np.clip(past, -FAR, FAR)))
    return chance


def unlikely(known: int, of: int, now: int, out_of: int) -> float:
    """Say how unlikely it is that something came `now` times out of so many, having come `known` times of as many.

    Returns:
        Natural logarithms: 10 is at most once in e^10; 0 where it came no more often than before.
    Source: H. Chernoff, Annals of Mathematical Statistics 23 (1952), 493-507, the bound on a binomial tail.

    >>> [round(unlikely(20, 100, now, 20), 1) for now in (4, 11, 20)]
    [0.0, 5.7, 31.6]
    """
    usual, share = (known + 1) / (of + 2), now / out_of
    if share <= usual:
        return 0.0
    others = (1 - share) * math.log((1 - share) / (1 - usual)) if share < 1 else 0.0
    return out_of * (share * math.log(share / usual) + others)


def independence(rows: Floats) -> Floats:
    """Say how many independent rows one row is worth, 0 to 1: fewer where each resembles the one before.

    Args:
        rows: shape (..., rows), finite; not so wild that one of them decides.

    >>> independence(np.array([[1.0, -1.0] * 4, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])).round(2).tolist()
    [1.0, 0.23]
    """
    rows = rows - rows.mean(axis=-1, keepdims=True)
    power = (rows * rows).sum(axis=-1)
    common = (rows[..., 1:] * rows[..., :-1]).sum(axis=-1)
    alike = np.clip(common / np.where(power > 0, power, 1.0), 0.0, 0.99)
    worth: Floats = (1 - alike) / (1 + alike)
    return worth
