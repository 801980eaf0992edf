"""Background noise: resampled from real step times, so it is skewed, heavy-tailed, autocorrelated, never Gaussian."""

import numpy as np

from detectors.base import Floats
from streams.agents.simulation.step_time_residuals import RESIDUALS

PERSISTENCE = 0.2
"""Chance that a value keeps its place in the distribution until the next draw; large real jobs show 0.1 to 0.6."""
NUDGE = 0.1
"""How far a kept place moves, as a share of the distribution."""
_TABLE = np.array(RESIDUALS)
_PROBABILITIES = (1 - np.cos(np.pi * np.arange(len(RESIDUALS)) / (len(RESIDUALS) - 1))) / 2


class Noise:
    """Named chains of noise out of one seeded generator; each chain remembers where it stood.

    Args:
        generator: the only source of chance; the same one gives the same noise.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._places: dict[str, Floats] = {}

    def factors(self, chain: str, size: int, spread: float | Floats) -> Floats:
        """Draw factors around 1, shape (size,).

        Args:
            chain: whose noise it is.
            size: number of factors, the same whenever the chain is drawn.
            spread: median absolute deviation of the factors, one or one each; a rare one is 25 times as far out.
        """
        drawn: Floats = np.interp(self.places(chain, size, PERSISTENCE), _PROBABILITIES, _TABLE)
        return np.maximum(1.0 + spread * drawn, 0.5)

    def factor(self, chain: str, spread: float) -> float:
        """Draw one factor around 1."""
        return float(self.factors(chain, 1, spread)[0])

    def places(self, chain: str, size: int, persistence: float) -> Floats:
        """Draw places in a distribution, uniform in 0..1, shape (size,), each of which may stay near its last one."""
        fresh: Floats
        fresh, keep, nudge = self._generator.random((3, size))
        last = self._places.get(chain)
        if last is not None:
            near = np.abs(last + NUDGE * (nudge - 0.5))
            near = np.where(near > 1.0, 2.0 - near, near)
            fresh = np.where(keep < persistence, near, fresh)
        self._places[chain] = fresh
        return fresh
