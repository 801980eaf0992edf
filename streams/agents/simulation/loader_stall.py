"""How a starved loader looks: every rank waits for its batch, the unlucky ones longer than the mean."""

import numpy as np

from detectors.base import Floats
from streams.agents.simulation.conditions import Conditions

PERSISTENCE = 0.7
"""A rank that waited long reads from the same slow shard again."""


def stall_loader(now: Conditions, share: float, uneven_seconds: float, ranks: list[int]) -> None:
    """Lengthen the wait for data until its mean over the ranks is a share of the step.

    The step lasts as long as its slowest rank: it grows by the mean stall plus what the slowest rank waits beyond the
    mean, T = T0 + e + d, while the mean share is s = (L0 + e) / T. Solved for e.

    Args:
        now: the step; changed in place.
        share: mean of loader_seconds over step_seconds that is wanted, below 1.
        uneven_seconds: what the slowest rank waits beyond the mean; never more than nine tenths of the mean stall.
        ranks: whose loaders are concerned.
    """
    healthy_step, healthy_loader = now.job.parts.seconds, now.job.parts.loader
    even = (share * healthy_step - healthy_loader) / (1.0 - share)
    if even <= 0:
        return
    beyond = min(uneven_seconds, 0.9 * even)
    mean = (share * (healthy_step + beyond) - healthy_loader) / (1.0 - share) * now.noise.factor("stall", 0.01)
    now.loader[ranks] += np.maximum(mean + beyond * _unevenness(now)[ranks], 0.0) * (1.0 - now.cached)


def _unevenness(now: Conditions) -> Floats:
    """Give how far each rank is from the mean, shape (ranks,): skewed, mean 0, the slowest at 1."""
    places = now.noise.places("stall by rank", now.job.world_size, PERSISTENCE) ** 1.5
    spread = places - places.mean()
    top: Floats = spread / max(float(spread.max()), 1e-9)
    return top
