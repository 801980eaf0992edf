"""Faults of the shared storage: reads that stutter, and saves that wait for them."""

from collections.abc import Sequence

import numpy as np

from streams.agents.simulation.conditions import Conditions
from streams.agents.simulation.influence import Influence
from streams.agents.simulation.loader_stall import stall_loader

RECOVERING = 1.15
"""How much longer a save takes while the storage still stutters but the loader no longer asks it."""


class StorageStutter(Influence, frozen=True, kw_only=True):
    """The object store answers late and asks to try again: retries first, then every loader starves, in bursts.

    Attributes:
        shares: waypoints (steps after onset, mean loader share of the step).
        reliefs: stretches (steps after onset, steps after onset) in which the prefetched batches suffice.
        relief_share: loader share within them.
        uneven_seconds: what the slowest rank waits beyond the mean.
        retries_per_second: of one node, at full strength.
    """

    shares: tuple[tuple[int, float], ...]
    reliefs: tuple[tuple[int, int], ...] = ()
    relief_share: float = 0.07
    uneven_seconds: float = 0.155
    retries_per_second: float = 9.0

    def apply(self, now: Conditions) -> None:
        """Starve the loaders and count the retries; a node that reads its own disk does neither."""
        strength = self.strength(now.step)
        if not strength:
            return
        since = now.step - self.onset
        share = float(np.interp(since, *_columns(self.shares)))
        if any(begin <= since < end for begin, end in self.reliefs):
            share = min(share, self.relief_share)
        stall_loader(now, share * strength, self.uneven_seconds, now.ranks(()))
        remote = 1.0 - 0.98 * now.cached
        nodes = len(now.job.nodes)
        now.storage["storage_retries_total"] += (
            self.retries_per_second * strength * remote * now.noise.factors("retries", nodes, 0.08)
        )
        now.storage["storage_latency_seconds"] *= 1.0 + 40.0 * share * strength


class SharedCheckpointPath(Influence, frozen=True, kw_only=True):
    """Saves go through the storage that somebody else is loading; the pause grows from one to the next.

    Attributes:
        seconds: pause of the first save concerned.
        growth: seconds by which each later one is longer.
        own_share: how much of that load is this job's loader; it goes when the loader reads its cache.
    """

    seconds: float = 41.0
    growth: float = 5.0
    own_share: float = 0.0

    def apply(self, now: Conditions) -> None:
        """Lengthen the save."""
        if not self.strength(now.step):
            return
        saves = (now.step - self.onset) // max(now.job.checkpoint_every, 1)
        slow = self.seconds + self.growth * saves
        contended = 1.0 - self.own_share * now.cached
        times_longer = contended * slow / now.job.checkpoint_seconds + (1.0 - contended) * RECOVERING
        now.checkpoint_seconds *= times_longer


def _columns(waypoints: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [at for at, _ in waypoints], [value for _, value in waypoints]
