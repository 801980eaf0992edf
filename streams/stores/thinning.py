"""Fewer points of a long series that still show its extremes: a mean would hide the one slow step."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Chosen = NDArray[np.int64]


def choose(rows: Rows, lost: NDArray[np.bool_], points: int) -> Chosen:
    """Choose at most `points` rows such that each stretch of time keeps the extremes of every signal.

    Rows are cut into stretches of equal length; of each the row with the least and the row with the greatest value of
    every signal stay, and the first with a reading that was not finite. Stretches are as short as `points` allows.
    Where even one stretch has more extremes than `points`, those of the first columns win.

    Args:
        rows: shape (moments, signals), NaN = no reading.
        lost: same shape, True where a reading was there but was not finite.
        points: at least 1.

    Returns:
        Indices of the chosen rows, ascending, each once.

    >>> series = np.array([[1.0], [1.1], [9.0], [1.0], [0.9], [1.0]])
    >>> choose(series, np.zeros((6, 1), dtype=bool), points=2)
    array([2, 4])
    """
    moments = len(rows)
    if moments <= points:
        return np.arange(moments)
    stretches = points
    while True:
        chosen = _extremes(rows, lost, -(-moments // stretches))
        if len(chosen) <= points:
            return np.sort(chosen)
        if stretches == 1:
            return np.sort(chosen[:points])
        # At least one fewer each time, and about as many fewer as were chosen too many.
        stretches = max(1, min(stretches - 1, stretches * points // len(chosen)))


def _extremes(rows: Rows, lost: NDArray[np.bool_], length: int) -> Chosen:
    """Give the rows of every stretch that hold an extreme, in the order of the signals, each once."""
    stretches = -(-len(rows) // length)
    padding = ((0, stretches * length - len(rows)), (0, 0))
    shape = (stretches, length, rows.shape[1])
    values = np.pad(rows, padding, constant_values=np.nan).reshape(shape)
    gaps = np.pad(lost, padding).reshape(shape)
    start = np.arange(stretches)[:, None] * length
    there = ~np.isnan(values).all(axis=1)
    least = start + np.where(np.isnan(values), np.inf, values).argmin(axis=1)
    greatest = start + np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
    first_gap = start + gaps.argmax(axis=1)
    found = np.stack([least, greatest, first_gap])
    real = np.stack([there, there, gaps.any(axis=1)])
    # Signal by signal: where not all can stay, the first signals keep both ends of their range.
    by_signal = found.transpose(2, 0, 1)[real.transpose(2, 0, 1)]
    _, first = np.unique(by_signal, return_index=True)
    chosen: Chosen = by_signal[np.sort(first)]
    return chosen
