"""An exporter's gauge that changes to a terminal Xid: a hint where the kernel's own line was not read."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from schemas.telemetry import Event
from streams.stages.detect.samples import MOMENT_SECONDS, Moment
from streams.stages.detect.signs.sign import Scene, Seen, Sign

TERMINAL = (48, 64, 79, 94, 95, 119, 120, 140)
"""Codes after which a GPU is of no use until it was reset or replaced."""


class GaugeXidMemory(Struct):
    """The last value of every GPU's gauge, and the GPUs whose kernel line was read."""

    last: dict[str, float] = field(default_factory=dict)
    spoken: list[str] = field(default_factory=list)


class GaugeXid(Sign[GaugeXidMemory]):
    """Take only the edge: the gauge holds the last code until the exporter starts anew."""

    name = "gauge_xid"
    memory = GaugeXidMemory

    def event(self, memory: GaugeXidMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note which faults the kernel told of: counting those is the truth."""
        if event.event in ("xid", "gpu.off_bus", "gpu.lost") and event.subject not in memory.spoken:
            memory.spoken = [*memory.spoken[-255:], event.subject]
        yield from ()

    def moment(self, memory: GaugeXidMemory, scene: Scene, moment: Moment) -> Iterator[Seen]:
        """Look for gauges that have changed."""
        row = moment.rows.get("xid_last")
        if moment.of != "gpu" or row is None:
            return
        for place in np.flatnonzero(np.isfinite(row)):
            gpu, node, rank = moment.entity(int(place))
            before, now = memory.last.get(gpu), float(row[place])
            memory.last[gpu] = now
            if before is not None and before != now and int(now) in TERMINAL and gpu not in memory.spoken:
                yield Seen(
                    sign=self.name,
                    subject=f"gpu:{gpu}",
                    again=f"{now:g}",
                    onset_time=moment.number * MOMENT_SECONDS,
                    onset_step=scene.step_at(moment.number * MOMENT_SECONDS),
                    ranks=(rank,) if rank >= 0 else (),
                    nodes=(node,) if node else (),
                    gpus=(gpu,),
                    before=before,
                    after=now,
                    text=f"the exporter's gauge of {gpu} on {node} changed from {before:g} to Xid {now:g}",
                    passes=20,
                )
