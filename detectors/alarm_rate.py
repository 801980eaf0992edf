"""How rare a false alarm must be, from what an operator will bear."""

from detectors.base import require

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
