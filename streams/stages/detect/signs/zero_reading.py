"""A profiling metric that reads zero while the GPU works: the collector is at fault and not the GPU."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from streams.stages.detect.samples import MOMENT_SECONDS, Moment
from streams.stages.detect.signs.sign import Scene, Seen, Sign

METRICS = ("sm_active", "tensor_active", "hbm_active")
BUSY = 0.9
ALIVE = 0.05
MOMENTS = 3
"""Moments in a row."""


class ZeroReadingMemory(Struct):
    """Per metric and GPU: moments in a row in which it read zero, and when the first was."""

    zeros: dict[str, int] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)


class ZeroReading(Sign[ZeroReadingMemory]):
    """Find a metric at exactly zero on a GPU that is busy, while the same metric of its peers is alive."""

    name = "zero_reading"
    memory = ZeroReadingMemory

    def moment(self, memory: ZeroReadingMemory, scene: Scene, moment: Moment) -> Iterator[Seen]:
        """Judge the GPUs of one moment."""
        util = moment.rows.get("gpu_util")
        if moment.of != "gpu" or util is None:
            return
        for metric in METRICS:
            row = moment.rows.get(metric)
            if row is None or not (row > ALIVE).any():
                continue
            stuck = (row == 0.0) & (util >= BUSY)
            for place in np.flatnonzero(stuck if not memory.zeros else np.isfinite(row)):
                yield from self._one(memory, scene, moment, metric, int(place), bool(stuck[place]))

    def _one(
        self, memory: ZeroReadingMemory, scene: Scene, moment: Moment, metric: str, place: int, stuck: bool
    ) -> Iterator[Seen]:
        gpu, node, rank = moment.entity(place)
        key = f"{metric}|{gpu}"
        told = memory.zeros.get(key, 0) >= MOMENTS
        if stuck:
            memory.zeros[key] = memory.zeros.get(key, 0) + 1
            memory.since.setdefault(key, moment.number * MOMENT_SECONDS)
        if (memory.zeros.get(key, 0) == MOMENTS and stuck) or (told and not stuck):
            yield Seen(
                sign=self.name,
                subject=f"gpu:{gpu}",
                again=metric,
                onset_time=memory.since[key],
                onset_step=scene.step_at(memory.since[key]),
                ranks=(rank,) if rank >= 0 else (),
                nodes=(node,) if node else (),
                gpus=(gpu,),
                after=0.0,
                text=f"{metric} of {gpu} on {node} reads 0 while the GPU is busy and its peers' does not",
                over=not stuck,
            )
        if not stuck:
            memory.zeros.pop(key, None)
            memory.since.pop(key, None)
