"""Faults of single GPUs: slow for no visible reason, too hot, short of power, or broken with an Xid."""

from streams.agents.simulation.conditions import Conditions, Happening
from streams.agents.simulation.influence import Influence


class SlowRank(Influence, frozen=True, kw_only=True):
    """Some ranks compute slower than their peers, and nothing says why.

    Attributes:
        factor: compute relative to healthy.
    """

    ranks: tuple[int, ...]
    factor: float

    def apply(self, now: Conditions) -> None:
        """Lengthen the compute of those ranks."""
        now.compute[list(self.ranks)] *= 1.0 + (self.factor - 1.0) * self.strength(now.step)


class ThermalThrottle(Influence, frozen=True, kw_only=True):
    """Some GPUs run too hot and hold their clock down; the driver says so.

    Attributes:
        drop: share of the clock that is lost.
        heat: Celsius above healthy.
    """

    ranks: tuple[int, ...]
    drop: float = 0.2
    heat: float = 25.0

    def apply(self, now: Conditions) -> None:
        """Lower the clock, raise temperature, flag and compute."""
        strength, ranks = self.strength(now.step), list(self.ranks)
        clock = 1.0 - self.drop * strength
        now.gpu["sm_clock_mhz"][ranks] *= clock
        now.gpu["temperature_c"][ranks] += self.heat * strength
        now.gpu["throttle_hw_thermal"][ranks] = 1.0 if strength else 0.0
        now.compute[ranks] /= clock


class PowerBrake(Influence, frozen=True, kw_only=True):
    """The power supply of some nodes asks their GPUs to slow down.

    Attributes:
        drop: share of the clock that is lost.
        limit_watts: the limit while it lasts.
    """

    nodes: tuple[str, ...]
    drop: float = 0.3
    limit_watts: float = 450.0

    def apply(self, now: Conditions) -> None:
        """Lower clock and power limit, raise flag and compute."""
        strength, ranks = self.strength(now.step), now.ranks(self.nodes)
        if not strength:
            return
        clock = 1.0 - self.drop * strength
        now.gpu["sm_clock_mhz"][ranks] *= clock
        now.gpu["power_limit_watts"][ranks] = self.limit_watts
        now.gpu["throttle_hw_power_brake"][ranks] = 1.0
        now.compute[ranks] /= clock


class XidError(Influence, frozen=True, kw_only=True):
    """The driver reports an error of a GPU; with a fatal one the step never ends.

    Attributes:
        text: the kernel's line, without its head.
        stuck_seconds: how long the job stands still; 0: it goes on.
    """

    rank: int
    code: int
    text: str
    stuck_seconds: float = 0.0

    def apply(self, now: Conditions) -> None:
        """Report it once, keep the gauge, stop the job if it is fatal."""
        if not self.strength(now.step):
            return
        now.gpu["xid_last"][self.rank] = self.code
        if now.step != self.onset:
            return
        pci = now.job.pci_of(self.rank)
        happening = Happening(
            node=now.job.node_of(self.rank),
            event="xid",
            subject=now.job.gpu_of(self.rank),
            data={"code": self.code, "pci": pci},
            text=f"NVRM: Xid (PCI:{pci}): {self.code}, pid='<unknown>', name=<unknown>, {self.text}",
        )
        now.opening.append(happening)
        if self.stuck_seconds:
            now.stuck, now.stuck_seconds = (self.rank,), self.stuck_seconds
