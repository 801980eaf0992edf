"""How rare a false alarm must be, from what an operator will bear, and how large a change that asks for."""

import math

from msgspec import Struct

from detectors.base import Floats, require

WEEK_SECONDS = 7 * 24 * 3600.0


def rows_between(per_job_week: float, seconds_per_row: float, series: int = 1) -> float:
    """Give the rows between two false alarms of one series, so that a job has no more than so many a week.

    Args:
        per_job_week: false alarms of one job in a week that are borne, over all its series.
        seconds_per_row: how often the job gives a row.
        series: how many series of it are watched.

    Raises:
        ValueError: a number that is not more than 0.

    >>> round(rows_between(per_job_week=2.0, seconds_per_row=3.0, series=10))
    1008000
    """
    require(per_job_week > 0, "per_job_week", "more than 0")
    require(seconds_per_row > 0, "seconds_per_row", "more than 0")
    require(series >= 1, "series", "at least 1")
    return WEEK_SECONDS / seconds_per_row * series / per_job_week


class Tail(Struct, frozen=True):
    """How seldom a healthy series seems to change by more than so much: ever seldomer, by the exponential law.

    Chance alone does not say it: step times of healthy runs settle on other levels now and then, by one or two per
    cent, and no surprise at their noise tells those from faults. Their size does.

    Attributes:
        least: relative change from which on it was counted.
        between: rows between two such changes.
        scale: mean of what they exceeded `least` by.
    """

    least: float
    between: float
    scale: float

    def worth(self, rows: float) -> float:
        """Give the smallest relative change that is worth an alarm, where one false alarm in so many rows is borne.

        >>> round(Tail(least=0.005, between=16_000.0, scale=0.008).worth(600_000.0), 3)
        0.034
        """
        return self.least + self.scale * max(math.log(rows / self.between), 0.0)


STEP_TIMES = Tail(least=0.005, between=15_800.0, scale=0.0101)
"""Of 1,042,949 step times of public training runs whose replicates tell plan and faults apart (bench/alarm_rate)."""


def fit_tail(sizes: Floats, least: float, rows: int) -> Tail:
    """Learn the tail from the changes that a detector found in healthy series.

    Args:
        sizes: relative changes found, shape (changes,), each at least `least`.
        least: smallest one that was looked for.
        rows: looked at.

    Raises:
        ValueError: fewer than five changes, or rows.

    >>> import numpy as np
    >>> fit_tail(np.array([0.006, 0.007, 0.01, 0.012, 0.015]), 0.005, 100_000)
    Tail(least=0.005, between=20000.0, scale=0.005)
    """
    require(sizes.size >= 5, "sizes", "at least 5 changes")
    require(rows > sizes.size, "rows", "more rows than changes")
    return Tail(least=least, between=rows / sizes.size, scale=float(sizes.mean()) - least)
