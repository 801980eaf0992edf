"""Corrected memory errors that come without a pause: no fault yet, and far from how memory that is in order behaves."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from streams.stages.detect.samples import Moment
from streams.stages.detect.signs.sign import Scene, Seen, Sign

CORRECTED = ("ecc_sbe_", "ecc_dram_corrected_", "ecc_sram_corrected_")
PER_SECOND = 100.0
"""Errors a second; memory that is in order has a few a day."""
SPANS = 5
"""Readings in a row at such a rate; so many below it end the flood."""


class Flood(Struct):
    """One counter of a GPU: its last reading, and how many spans in a row were over the limit, or under it.

    Attributes:
        since: Unix seconds of the reading after which the first of them began.
        worst: highest rate so far, errors a second.
    """

    count: float
    time: float
    over: int = 0
    under: int = 0
    since: float = 0.0
    worst: float = 0.0


class ErrorFloodMemory(Struct):
    """GPUs that have corrected anything, by counter and name."""

    counters: dict[str, Flood] = field(default_factory=dict)


class ErrorFlood(Sign[ErrorFloodMemory]):
    """Find GPUs that correct hundreds of memory errors every second, whatever they did in their past."""

    name = "error_flood"
    memory = ErrorFloodMemory

    def moment(self, memory: ErrorFloodMemory, scene: Scene, moment: Moment) -> Iterator[Seen]:
        """Judge the counters of one moment; a GPU that has corrected nothing costs nothing."""
        if moment.of != "gpu":
            return
        for name in sorted(moment.rows):
            if name.startswith(CORRECTED):
                for place in np.flatnonzero(moment.rows[name] > 0).tolist():
                    yield from self._one(memory, scene, moment, name, place)

    def _one(self, memory: ErrorFloodMemory, scene: Scene, moment: Moment, name: str, place: int) -> Iterator[Seen]:
        gpu, node, rank = moment.entity(place)
        count, time = float(moment.rows[name][place]), float(moment.times[place])
        known = memory.counters.setdefault(f"{name}|{node}|{gpu}", Flood(count, time))
        if time <= known.time:
            return
        told = known.over >= SPANS
        ended = _count(known, (count - known.count) / (time - known.time))
        known.count, known.time = count, time
        if (told and not ended) or (known.over < SPANS and not ended):
            return
        yield Seen(
            sign=self.name,
            subject=f"gpu:{gpu}",
            onset_time=known.since,
            onset_step=scene.step_at(known.since),
            ranks=(rank,) if rank >= 0 else (),
            nodes=(node,) if node else (),
            gpus=(gpu,),
            before=0.0,
            after=known.worst,
            text=f"{gpu} on {node} corrects {known.worst:.0f} memory errors every second",
            over=ended,
        )


def _count(known: Flood, rate: float) -> bool:
    """Count one more span at a rate; tell whether a flood has ended with it."""
    if rate >= PER_SECOND:
        if not known.over:
            known.since, known.worst = known.time, 0.0
        known.over, known.under, known.worst = known.over + 1, 0, max(known.worst, rate)
        return False
    was, known.under = known.over >= SPANS, known.under + 1
    ended = was and known.under >= SPANS
    if ended or not was:
        known.over = 0
    return ended
