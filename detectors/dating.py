"""When a level changed: one change point on a trailing window, robust to a few outliers."""

import numpy as np
import ruptures

from detectors.base import Floats, require


def date_shift(window: Floats) -> tuple[int, float, float]:
    """Find the row at which a window's level changed, and the levels on both sides.

    A first cut on ranks needs no scale and minds no outlier; a second one on the values, cut off at the two levels
    found, is exact on a noiseless step.

    Args:
        window: shape (rows,), finite, at least 2 rows, in any unit; oldest first.

    Returns:
        The offset of the first row of the new level (1 to rows - 1), the median before it and the median from it on.
        A window without a change has an offset too, with equal levels or nearly so: the caller judges their distance.

    Raises:
        ValueError: fewer than 2 rows, or a value that is not finite.
    Cost: O(rows²) in C; 0.1 ms for 60 rows.
    Source: R. Killick and others, JASA 107 (2012), 1590-1598, for one change point; C. Truong and others, Signal
        Processing 167 (2020), for the library.

    >>> date_shift(np.array([5.0, 5.0, 80.0, 5.0, 5.0, 6.0, 6.0, 6.0]))
    (5, 5.0, 6.0)
    """
    window = np.asarray(window, dtype=np.float64)
    require(window.ndim == 1 and window.size >= 2, "window", "at least 2 rows")
    require(bool(np.isfinite(window).all()), "window", "finite rows")
    rough = _cut(_ranks(window))
    low, high = sorted((float(np.median(window[:rough])), float(np.median(window[rough:]))))
    offset = rough if low == high else _cut((np.clip(window, low, high) - low) / (high - low))
    return offset, float(np.median(window[:offset])), float(np.median(window[offset:]))


def left_for_good(distance: Floats, by: float) -> int:
    """Find the row from which on most rows are farther away than `by`, however slowly they left.

    >>> left_for_good(np.array([0.0, 3.0, 1.0, 0.0, 3.0, 4.0, 5.0]), 2.0)
    4
    """
    away = np.where(distance > by, 1, -1)
    return int(np.argmax(np.cumsum(away[::-1])[::-1]))


def _ranks(window: Floats) -> Floats:
    """Give each value its rank; equal values share the middle one."""
    _, place, count = np.unique(window, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    ranks: Floats = middle[place] / window.size
    return ranks


def _cut(window: Floats) -> int:
    search = ruptures.KernelCPD(kernel="linear", min_size=1).fit(window)
    return int(search.predict(n_bkps=1)[0])
