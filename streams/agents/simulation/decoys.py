"""What looks like a fault and is none: warm-up, a larger batch, the time of day, uneven sequences, a lone late step."""

import math

import numpy as np

from streams.agents.simulation.conditions import Conditions, Happening
from streams.agents.simulation.influence import Influence

DAY_SECONDS = 86_400.0
_SEQUENCE_PLACES = (0.0, 0.5, 0.95, 1.0)
_SEQUENCE_FACTORS = (0.85, 1.0, 1.24, 1.99)


class WarmUp(Influence, frozen=True, kw_only=True):
    """The first steps after a start are slow: kernels are tuned, caches fill. It is announced as a phase.

    Attributes:
        factor: compute of the very first step relative to healthy; falls to 1 over the duration.
    """

    factor: float = 3.0
    duration: int = 40

    def apply(self, now: Conditions) -> None:
        """Lengthen compute, announce begin and end."""
        left = 1.0 - (now.step - self.onset) / self.duration
        if not 0.0 < left <= 1.0:
            return
        now.compute *= 1.0 + (self.factor - 1.0) * left**2
        announced, node = {"phase": "warmup"}, now.job.nodes[0]
        if now.step == self.onset:
            now.opening.append(Happening(node=node, event="phase.begin", data=announced))
        if now.step == self.onset + self.duration - 1:
            now.closing.append(Happening(node=node, event="phase.end", data=announced))


class BatchRamp(Influence, frozen=True, kw_only=True):
    """The trainer takes larger batches on schedule and says so; a step takes longer, tokens/s do not fall.

    Attributes:
        factor: batch relative to the one before.
    """

    factor: float = 1.5

    def apply(self, now: Conditions) -> None:
        """Scale tokens, compute and loader; announce the change."""
        if not self.strength(now.step):
            return
        now.readings["tokens"] = now.job.tokens * self.factor
        for part in (now.compute, now.loader, now.input_copy):
            part *= self.factor
        now.communication *= self.factor
        if now.step == self.onset:
            change = {"tokens": [now.job.tokens, int(now.job.tokens * self.factor)]}
            now.opening.append(Happening(node=now.job.nodes[0], event="config.changed", data=change))


class DailyDrift(Influence, frozen=True, kw_only=True):
    """The machine room is warmer by day: compute goes up and down by one or two per cent.

    Attributes:
        amplitude: share by which compute differs from its mean at most.
    """

    amplitude: float = 0.015

    def apply(self, now: Conditions) -> None:
        """Scale compute with the time of day."""
        now.compute *= 1.0 + self.amplitude * math.sin(2 * math.pi * now.elapsed / DAY_SECONDS)


class UnevenSequences(Influence, frozen=True, kw_only=True):
    """Batches hold sequences of uneven length: in each step other ranks have more to do."""

    def apply(self, now: Conditions) -> None:
        """Scale the compute of each rank by chance."""
        if self.strength(now.step):
            places = now.noise.places("sequences", now.job.world_size, 0.0)
            now.compute *= np.interp(places, _SEQUENCE_PLACES, _SEQUENCE_FACTORS)


class LoneStalls(Influence, frozen=True, kw_only=True):
    """Now and then one step takes twice as long or more, for a reason nobody ever learns.

    Attributes:
        per_step: chance of one at any step.
    """

    per_step: float = 0.00074

    def apply(self, now: Conditions) -> None:
        """Lengthen the collectives of an unlucky step."""
        luck = float(now.noise.places("lone stall", 1, 0.0)[0])
        if self.strength(now.step) and luck < self.per_step:
            tail = np.interp(luck / self.per_step, (0.0, 0.1, 0.5, 1.0), (14.7, 3.7, 2.0, 1.5))
            now.communication += (float(tail) - 1.0) * now.job.parts.seconds
