"""Faults of what connects: PCIe to a GPU, NVLink inside a node, the network between nodes."""

from streams.agents.simulation.conditions import Conditions
from streams.agents.simulation.influence import Influence


class PcieDowngrade(Influence, frozen=True, kw_only=True):
    """The PCIe link of some GPUs runs at a lower generation although it is busy; input copies take longer.

    Attributes:
        generation: what it runs at, of 5.
        factor: input copy relative to healthy.
        replays_per_second: of each of those links.
    """

    ranks: tuple[int, ...]
    generation: int = 1
    factor: float = 12.0
    replays_per_second: float = 0.4

    def apply(self, now: Conditions) -> None:
        """Slow the copies, lower the generation, count the replays."""
        if not self.strength(now.step):
            return
        ranks = list(self.ranks)
        now.input_copy[ranks] *= self.factor
        now.gpu["pcie_generation"][ranks] = self.generation
        now.gpu["pcie_replays_total"][ranks] += self.replays_per_second


class NvlinkErrors(Influence, frozen=True, kw_only=True):
    """NVLink of some GPUs corrects errors all the time; collectives inside the node take longer.

    Attributes:
        errors_per_second: of each of those GPUs.
        lanes: lanes still at full width, of 18.
        factor: communication of the job relative to healthy.
    """

    ranks: tuple[int, ...]
    errors_per_second: float = 30.0
    lanes: int = 16
    factor: float = 1.6

    def apply(self, now: Conditions) -> None:
        """Count the errors, lose the lanes, slow the collectives."""
        strength, ranks = self.strength(now.step), list(self.ranks)
        if not strength:
            return
        now.gpu["nvlink_errors_total"][ranks] += self.errors_per_second * strength
        now.gpu["nvlink_lanes_up"][ranks] = self.lanes
        now.communication *= 1.0 + (self.factor - 1.0) * strength


class NetworkCongestion(Influence, frozen=True, kw_only=True):
    """The fabric is overloaded: every rank waits longer in collectives, nobody is slow.

    Attributes:
        loss: share of the throughput that is lost.
        retransmits_per_second: of one node.
    """

    loss: float = 0.35
    retransmits_per_second: float = 260.0

    def apply(self, now: Conditions) -> None:
        """Lengthen the collectives and count the packets sent again."""
        strength = self.strength(now.step)
        healthy = now.job.parts.seconds
        longer = healthy / (1.0 - self.loss) - healthy
        now.communication += longer * strength * now.noise.factor("congestion", 0.05)
        nodes = len(now.job.nodes)
        retransmits = self.retransmits_per_second * strength * now.noise.factors("retransmits", nodes, 0.06)
        now.host["retransmits_total"] += retransmits
