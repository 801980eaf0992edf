"""Parts that detectors share: medians and spreads that ignore absent readings, and rings that forget the oldest row.

Everything works on all series at once: the last axis is the rows, NaN is no reading. A ring is an array of shape
(series, size) with a count per series of what was ever pushed; slots that were never written are NaN.
"""

import numpy as np

from detectors.base import Floats, Ints

NORMAL_MAD = 1.4826
"""Median absolute deviation times this is the standard deviation of a normal distribution."""
NORMAL_QUARTILES = 0.7413
"""Distance of the quartiles times this is the standard deviation of a normal distribution."""


def quantiles(values: Floats, shares: tuple[float, ...]) -> list[Floats]:
    """Quantiles over the last axis, NaN ignored; NaN where there is nothing but NaN.

    Args:
        values: shape (..., rows).
        shares: each 0..1, 0.5 is the median.

    >>> [q.tolist() for q in quantiles(np.array([[4.0, np.nan, 2.0], [np.nan] * 3]), (0.5, 1.0))]
    [[3.0, nan], [4.0, nan]]
    """
    ordered = np.array(values, order="C")
    ordered.sort(axis=-1)  # NaN last
    last = np.maximum(np.isfinite(ordered).sum(axis=-1, keepdims=True) - 1, 0)
    found = []
    for share in shares:
        place = share * last
        low = place.astype(np.int64)
        below = np.take_along_axis(ordered, low, axis=-1)
        above = np.take_along_axis(ordered, np.minimum(low + 1, last), axis=-1)
        found.append((below + (above - below) * (place - low))[..., 0])
    return found


def median(values: Floats) -> Floats:
    """Median over the last axis, NaN ignored.

    >>> median(np.array([[1.0, np.nan, 2.0, 100.0]])).tolist()
    [2.0]
    """
    if not values.shape[-1]:
        return quantiles(values, (0.5,))[0]
    ordered = np.array(values, order="C")
    ordered.sort(axis=-1)  # faster than a partition, whose branches nobody can foresee
    if not (np.isfinite(ordered[..., -1]).all() and np.isfinite(ordered[..., 0]).all()):
        return quantiles(values, (0.5,))[0]
    low, high = (values.shape[-1] - 1) // 2, values.shape[-1] // 2
    below: Floats = ordered[..., low]
    middle: Floats = below + (ordered[..., high] - below) * (0.5 * (high - low))
    return middle


def centre_and_mad(values: Floats) -> tuple[Floats, Floats]:
    """Median, and spread as the scaled median absolute deviation: up to half of the rows may be anything.

    >>> [x.tolist() for x in centre_and_mad(np.array([1.0, 2.0, 3.0, 4.0, 1000.0]))]
    [3.0, 1.4826]
    """
    centre = median(values)
    return centre, NORMAL_MAD * median(np.abs(values - centre[..., None]))


def centre_and_quartile_spread(values: Floats) -> tuple[Floats, Floats]:
    """Median, and spread from the quartiles: sees an every-other-row pattern where the absolute deviation may not.

    The median of a two-level pattern may fall on either level, and half of the deviations are then about zero; the
    quartiles stand on both levels. Up to a quarter of the rows may be anything.

    >>> [x.round(3).tolist() for x in centre_and_quartile_spread(np.array([1.0, 1.2] * 50 + [1.0]))]
    [1.0, 0.148]
    """
    low, centre, high = quantiles(values, (0.25, 0.5, 0.75))
    return centre, NORMAL_QUARTILES * (high - low)


def push(ring: Floats | Ints, pushed: Ints, series: Ints, values: Floats | Ints | int) -> None:
    """Write one value per series named; the caller counts `pushed` on when all its rings are written.

    Args:
        ring: shape (all series, size).
        pushed: shape (all series,), values ever pushed.
        series: indices of the series concerned.
        values: shape (len(series),), or one for all.
    """
    ring[series, pushed[series] % ring.shape[1]] = values


def latest_columns(size: int, pushed: Ints, count: int, lag: Ints | int = 0) -> Ints:
    """Columns of the last `count` values of each series, oldest first, leaving out the newest `lag`.

    Args:
        size: columns of the ring.
        pushed: shape (series,).
        count: how many, at most the size less the lag; columns never written hold NaN.
        lag: values to leave out, one number or one per series.
    """
    newest = np.asarray(pushed - 1 - lag)
    columns: Ints = (newest[:, None] - np.arange(count - 1, -1, -1)) % size
    return columns
