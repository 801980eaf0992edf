"""How often to save: the interval at which pauses, lost training and storage cost least together."""

import math

from msgspec import Struct

from detectors.base import require


class SavingCost(Struct, frozen=True):
    """What saving costs at one interval, each as a share of the job's time.

    Attributes:
        interval_seconds: training between two saves.
        paused: waiting for saves.
        lost: training that is expected to be lost to failures and done again.
        recovering: coming back from failures, and proving that it is the same run.
        storing: storage and bandwidth, in the same measure.
    """

    interval_seconds: float
    paused: float
    lost: float
    recovering: float
    storing: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.paused + self.lost + self.recovering + self.storing


def saving_cost(
    interval_seconds: float,
    pause_seconds: float,
    failures_per_second: float,
    recovery_seconds: float = 0.0,
    storage_seconds: float = 0.0,
) -> SavingCost:
    """Give the cost of saving every so many seconds of training.

    Args:
        interval_seconds: training between two saves.
        pause_seconds: what one save holds the job up, as measured.
        failures_per_second: of the whole job, as measured.
        recovery_seconds: from a failure to training again, verification included.
        storage_seconds: what storing one save is worth, in seconds of the job.

    Raises:
        ValueError: an interval that is not more than 0, or a negative cost.

    >>> cost = saving_cost(1200.0, pause_seconds=75.0, failures_per_second=0.0)
    >>> round(cost.paused, 4), cost.lost
    (0.0588, 0.0)
    """
    require(interval_seconds > 0, "interval_seconds", "more than 0")
    costs = (pause_seconds, failures_per_second, recovery_seconds, storage_seconds)
    require(min(costs) >= 0, "pause_seconds", "no negative cost")
    cycle = interval_seconds + pause_seconds
    return SavingCost(
        interval_seconds=interval_seconds,
        paused=pause_seconds / cycle,
        lost=failures_per_second * interval_seconds / 2,
        recovering=failures_per_second * recovery_seconds,
        storing=storage_seconds / cycle,
    )


def best_interval(pause_seconds: float, failures_per_second: float, storage_seconds: float = 0.0) -> float:
    """Give the seconds of training between two saves at which all costs together are least.

    Recovery costs the same however often the job saves, so it does not move the optimum.

    Raises:
        ValueError: there are no failures, saving is free, or failures are so frequent that no interval is best.
    Source: J. W. Young, Communications of the ACM 17 (1974), 530-531.

    >>> round(best_interval(pause_seconds=75.0, failures_per_second=1 / 86400))
    3525
    """
    require(failures_per_second > 0, "failures_per_second", "more than 0")
    require(min(pause_seconds, storage_seconds) >= 0, "pause_seconds", "no negative cost")
    cycle = math.sqrt(2 * (pause_seconds + storage_seconds) / failures_per_second)
    require(cycle > pause_seconds, "failures_per_second", "fewer failures, and a cost of saving,")
    return cycle - pause_seconds
