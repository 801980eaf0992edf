"""Faults of the training itself: losses that are no numbers, spikes, a changed mixture of data."""

from schemas.telemetry import Reading
from streams.agents.simulation.conditions import Conditions
from streams.agents.simulation.influence import Influence


class UnusableLoss(Influence, frozen=True, kw_only=True):
    """The loss and the gradient norm are NaN, infinite or absent from some step on.

    Attributes:
        reading: what the trainer reports instead.
    """

    reading: Reading

    def apply(self, now: Conditions) -> None:
        """Replace both readings."""
        if self.strength(now.step):
            now.readings["loss"] = self.reading
            now.readings["grad_norm"] = self.reading


class LossSpike(Influence, frozen=True, kw_only=True):
    """The optimiser loses its way: the gradient norm rises first, then the loss, and both come back.

    Attributes:
        height: what the loss rises by at the top.
        rise: steps from the onset of the loss to its top.
        fall: steps from the top back.
        lead: steps by which the gradient norm goes ahead.
        norm_factor: gradient norm at its top, relative to healthy.
    """

    height: float = 2.9
    rise: int = 5
    fall: int = 25
    lead: int = 4
    norm_factor: float = 14.0

    def apply(self, now: Conditions) -> None:
        """Raise the loss along its hill and the gradient norm along the same hill, earlier."""
        loss, norm = now.readings["loss"], now.readings["grad_norm"]
        if loss is None or norm is None:
            return
        now.readings["loss"] = loss + self.height * self._hill(now.step)
        now.readings["grad_norm"] = norm * (1.0 + (self.norm_factor - 1.0) * self._hill(now.step + self.lead))

    def _hill(self, step: int) -> float:
        since = step - self.onset + 1
        if since <= self.rise:
            return max(since / self.rise, 0.0)
        return max(1.0 - (since - self.rise) / self.fall, 0.0) ** 2


class MixtureShift(Influence, frozen=True, kw_only=True):
    """A data source runs dry and another takes its place; its samples are worse and the loss goes up at once.

    Attributes:
        source: whose share falls; `instead` takes it.
        share: how much of the batch changes hands.
        bump: what the loss rises by.
        bad_samples: share of unreadable samples while it lasts.
    """

    source: str
    instead: str
    share: float = 0.25
    bump: float = 0.3
    bad_samples: float = 0.03

    def apply(self, now: Conditions) -> None:
        """Move the shares, raise the loss and the share of bad samples."""
        strength = self.strength(now.step)
        self._add(now, f"source_share.{self.source}", -self.share * strength)
        self._add(now, f"source_share.{self.instead}", self.share * strength)
        self._add(now, "loss", self.bump * strength)
        self._add(now, "bad_sample_share", self.bad_samples * strength)

    def _add(self, now: Conditions, name: str, amount: float) -> None:
        reading = now.readings.get(name)
        if reading is not None:
            now.readings[name] = max(reading + amount, 0.0)
