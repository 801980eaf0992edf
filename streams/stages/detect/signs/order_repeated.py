"""Samples that are trained again within their epoch: the sampler forgot where it was."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOKED = 8
"""Steps that are judged together."""
SHARE = 0.2
FEWEST = 16
"""Samples among them that have to be repetitions: more than this share, and at least so many."""
MOST = 200_000
"""Sample ids that are kept; a longer epoch is not judged any more."""


class OrderRepeatedMemory(Struct):
    """The samples of this epoch by step, and how many of the last steps were repetitions.

    Attributes:
        epoch: they belong to.
        steps: step -> sample ids; `known` has all of them.
        latest: repetitions and samples of the last steps: (step, time, repeated, given).
    """

    epoch: float = -1.0
    steps: dict[int, list[float]] = field(default_factory=dict)
    known: set[float] = field(default_factory=set)
    latest: list[tuple[int, float, int, int]] = field(default_factory=list)
    told: bool = False


class OrderRepeated(Sign[OrderRepeatedMemory]):
    """Count how many samples of the last steps were already trained in the same epoch, steps taken back aside."""

    name = "order_repeated"
    memory = OrderRepeatedMemory

    def event(self, memory: OrderRepeatedMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Steps behind the resume are trained again by right."""
        if event.event == "attempt.started":
            resume = as_count(event.data.get("resume_step"))
            if resume is None:
                memory.steps.clear()
            memory.steps = {step: ids for step, ids in memory.steps.items() if resume is not None and step <= resume}
            memory.known = {one for ids in memory.steps.values() for one in ids}
            memory.latest, memory.told = [], False
        yield from ()

    def step(self, memory: OrderRepeatedMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Judge the samples of one step."""
        row, epoch = closed.ranks.get("sample_id"), closed.job.get("epoch")
        if row is None or epoch is None:
            return
        if epoch > memory.epoch:
            memory.epoch, memory.steps, memory.known, memory.latest = epoch, {}, set(), []
        ids = row[np.isfinite(row)].tolist()
        if len(memory.known) > MOST:
            return
        repeated = sum(one in memory.known for one in ids)
        memory.latest = [*memory.latest[1 - LOOKED :], (closed.step, closed.time, repeated, len(ids))]
        memory.steps.setdefault(closed.step, []).extend(ids)
        memory.known.update(ids)
        yield from self._judge(memory, epoch)

    def _judge(self, memory: OrderRepeatedMemory, epoch: float) -> Iterator[Seen]:
        repeated, given = sum(one[2] for one in memory.latest), sum(one[3] for one in memory.latest)
        if memory.told or repeated < FEWEST or repeated < SHARE * given:
            return
        memory.told = True
        first = next(one for one in memory.latest if one[2])
        yield Seen(
            sign=self.name,
            again=str(first[0]),
            onset_time=first[1],
            onset_step=first[0],
            before=0.0,
            after=float(repeated),
            numbers={"repeated": float(repeated), "of": float(given), "epoch": epoch},
            text=f"{repeated} of {given} samples since {step_words(first[0])} were trained before in epoch {epoch:g}",
        )
