"""Faults of hosts: loaders short of CPU, a node that is slow for no visible reason, memory that leaks."""

import numpy as np

from streams.agents.simulation.conditions import Conditions, Happening
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.loader_stall import stall_loader


class CpuStarvedLoader(Influence, frozen=True, kw_only=True):
    """The loader's processes share too few CPUs: they are all busy, the storage is not to blame.

    Attributes:
        share: mean loader share of the step.
        allowed: CPUs that the job may use, of all that the node has.
    """

    share: float = 0.2
    uneven_seconds: float = 0.05
    allowed: int = 8

    def apply(self, now: Conditions) -> None:
        """Starve the loaders with the storage at rest."""
        strength = self.strength(now.step)
        if not strength:
            return
        stall_loader(now, self.share * strength, self.uneven_seconds, now.ranks(()))
        busy = now.host["allowed_cpu_util"]
        now.host["allowed_cpu_util"] = busy + (0.995 - busy) * strength
        now.host["allowed_cpus"][:] = self.allowed
        now.host["cpu_util"] *= 0.5
        now.host["load"] *= 1.0 + 1.5 * strength


class SlowNode(Influence, frozen=True, kw_only=True):
    """Everything on one node takes longer, and nothing says why.

    Attributes:
        factor: own work relative to healthy.
    """

    node: str
    factor: float = 1.068

    def apply(self, now: Conditions) -> None:
        """Lengthen all own work on the node."""
        ranks = now.job.ranks_on(self.node)
        factor = 1.0 + (self.factor - 1.0) * self.strength(now.step)
        for part in (now.compute, now.loader, now.input_copy, now.host_prep, now.optimizer):
            part[ranks] *= factor


class MemoryLeak(Influence, frozen=True, kw_only=True):
    """Host memory of a node creeps up until the kernel kills a loader worker and the job dies.

    Attributes:
        steps_to_kill: steps from the onset to the kill.
        rank: whose loader worker dies.
    """

    node: str
    rank: int
    steps_to_kill: int

    def apply(self, now: Conditions) -> None:
        """Take memory away, in the end the worker."""
        since = now.step - self.onset
        if since < 0:
            return
        left = max(1.0 - since / self.steps_to_kill, 0.004)
        now.host["memory_available_bytes"][now.places((self.node,))] *= left
        if since == self.steps_to_kill:
            now.jumps["oom_kills_total"] = np.where(np.array(now.job.nodes) == self.node, 1.0, 0.0)
            now.opening += self._kill()
            now.stuck = (self.rank,)
            now.stuck_seconds = 45.0

    def _kill(self) -> list[Happening]:
        pid = 22_000 + self.rank
        killed = f"Out of memory: Killed process {pid} (python3) total-vm:98234112kB, anon-rss:21203344kB"
        worker = f"RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed."
        return [
            Happening(
                node=self.node,
                event="oom.kill",
                subject=self.node,
                data={"pid": pid, "process": "python3", "constraint": "global"},
                text=killed,
            ),
            Happening(
                node=self.node,
                event="worker.killed",
                data={"pid": pid, "signal": "Killed", "rank": self.rank},
                text=worker,
            ),
            Happening(node=self.node, event="rank.exit", data={"rank": self.rank, "exit_code": -9}),
        ]
