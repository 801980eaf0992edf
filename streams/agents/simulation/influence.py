"""What faults and decoys have in common: since when, for how long, how it grows, and one step of it."""

from abc import abstractmethod

from msgspec import Struct

from streams.agents.simulation.conditions import Conditions


class Influence(Struct, frozen=True, kw_only=True):
    """Something that changes steps, harmful or not; it has no memory, the step alone decides.

    Attributes:
        onset: first step concerned.
        duration: steps it lasts; None: to the end of the attempt.
        ramp: steps until it has its full strength.
    """

    onset: int
    duration: int | None = None
    ramp: int = 0

    def strength(self, step: int) -> float:
        """Give how much of it there is at a step, 0..1.

        >>> slow = Influence(onset=100, duration=50, ramp=4)
        >>> [slow.strength(step) for step in (99, 100, 103, 149, 150)]
        [0.0, 0.25, 1.0, 1.0, 0.0]
        """
        since = step - self.onset
        if since < 0 or (self.duration is not None and since >= self.duration):
            return 0.0
        return min((since + 1) / self.ramp, 1.0) if self.ramp else 1.0

    @abstractmethod
    def apply(self, now: Conditions) -> None:
        """Change the conditions of one step in place."""
