"""Replicas that are fed the same samples: the job does a part of the work, and every step looks well."""

import statistics
from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import count, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

LOOKED = 8
"""Steps in a row of which every one has too few samples, or enough of them again."""
USUAL = 40
FEW = 0.5
"""Share of the samples that there should be, up to which they are too few."""
FEWEST = 2
"""Data-parallel replicas, or samples a step in the time before, that there have to be."""


class SameSamplesMemory(Struct):
    """How many different samples the steps had.

    Attributes:
        replicas: rank -> its data-parallel replica, as the launcher told.
        usual: different samples of the last steps that had enough, in all attempts of so many ranks.
        short: step, time, different samples and how many there should have been, of the last steps with too few.
        enough: steps in a row with enough, since.
        told: the step of the active finding, or "".
    """

    replicas: dict[int, int] = field(default_factory=dict)
    usual: list[int] = field(default_factory=list)
    world_size: int = 0
    short: list[tuple[int, float, int, int]] = field(default_factory=list)
    enough: int = 0
    told: str = ""


class SameSamples(Sign[SameSamplesMemory]):
    """Hold the number of different samples in a step against the number of replicas, or against what was usual."""

    name = "same_samples"
    memory = SameSamplesMemory

    def event(self, memory: SameSamplesMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Learn the layout; after an announced change fewer samples may be wanted."""
        if event.event == "attempt.started":
            memory.replicas = _replicas(event.data.get("placement"))
            if memory.world_size != scene.attempt.world_size:
                memory.usual, memory.world_size = [], scene.attempt.world_size
            memory.short, memory.enough, memory.told = [], 0, ""
        elif event.event == "config.changed":
            memory.usual = []
        yield from ()

    def step(self, memory: SameSamplesMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Count the samples of one step."""
        row = closed.ranks.get("sample_id")
        if row is None:
            return
        told = np.flatnonzero(~np.isnan(row))
        whole = told.size == row.size
        wanted = _wanted(memory, [scene.attempt.participants.ranks[place] for place in told], whole)
        if not (wanted or whole):
            return
        different = len(set(row[told].tolist()))
        if wanted >= FEWEST and different <= FEW * wanted:
            memory.enough = 0
            memory.short = [*memory.short, (closed.step, closed.time, different, wanted)][:LOOKED]
            if len(memory.short) == LOOKED and not memory.told:
                memory.told = str(memory.short[0][0])
                yield self._seen(memory)
            return
        memory.usual, memory.enough = [*memory.usual[1 - USUAL :], different], memory.enough + 1
        if memory.told and memory.enough == LOOKED:
            yield Seen(sign=self.name, again=memory.told, onset_time=closed.time, over=True, end_step=closed.step)
        if not memory.told or memory.enough == LOOKED:
            memory.short, memory.told = [], ""

    def _seen(self, memory: SameSamplesMemory) -> Seen:
        step, time, different, wanted = memory.short[0]
        return Seen(
            sign=self.name,
            again=memory.told,
            onset_time=time,
            onset_step=step,
            before=float(wanted),
            after=float(different),
            numbers={"different": float(different), "expected": float(wanted)},
            text=(
                f"all ranks together train {count(different, 'sample')} a step since {step_words(step)}, where "
                f"{wanted} different ones are expected: replicas are fed the same data"
            ),
        )


def _replicas(placement: object) -> dict[int, int]:
    found: dict[int, int] = {}
    for place in placement if isinstance(placement, list) else []:
        rank, replica = (as_count(place.get(name)) if isinstance(place, Mapping) else None for name in ("rank", "dp"))
        if rank is not None and replica is not None:
            found[rank] = replica
    return found


def _wanted(memory: SameSamplesMemory, ranks: list[int], whole: bool) -> int:
    """Give how many different samples these ranks should have, 0 = not known; `whole`: they are all there are."""
    if all(rank in memory.replicas for rank in ranks):
        return len({memory.replicas[rank] for rank in ranks})
    if not whole:
        return 0
    return round(statistics.median(memory.usual)) if len(memory.usual) >= USUAL else 0
