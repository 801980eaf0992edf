"""The first rank that raised an error; whoever follows within the attempt only follows."""

from collections.abc import Iterator

from msgspec import Struct

from schemas.telemetry import Event, as_count
from streams.stages.detect.signs.error_kind import error_kind
from streams.stages.detect.signs.sign import Scene, Seen, Sign

TOGETHER_SECONDS = 0.5
"""Errors of different ranks so close to each other have no first."""


class RankErrorMemory(Struct):
    """The first error of the attempt; `alone` is False when others came with it."""

    first: float | None = None
    rank: int | None = None
    alone: bool = True


class RankError(Sign[RankErrorMemory]):
    """Name the rank whose error came first, unless several came at once."""

    name = "rank_error"
    memory = RankErrorMemory

    def event(self, memory: RankErrorMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take an error of a rank."""
        if event.event == "attempt.started":
            memory.first, memory.rank, memory.alone = None, None, True
        if event.event != "rank.error":
            return
        rank = as_count(event.data.get("rank"))
        if memory.first is None:
            memory.first, memory.rank = event.time, rank
            yield self._told(scene, event, rank)
        elif memory.alone and rank != memory.rank and abs(event.time - memory.first) <= TOGETHER_SECONDS:
            memory.alone = False
            yield self._told(scene, event, None)

    def _told(self, scene: Scene, event: Event, rank: int | None) -> Seen:
        known = rank is not None and rank in scene.attempt.participants.index
        ranks = (rank,) if rank is not None and known else ()
        text = f"{event.data.get('error', '')} {event.text}".strip()
        return Seen(
            sign=self.name,
            part=error_kind(text, loading=scene.attempt.alignment.closed == 0),
            onset_time=event.time,
            onset_step=scene.step,
            ranks=ranks,
            nodes=tuple(node for one in ranks if (node := scene.node_of(one))),
            gpus=tuple(gpu for one in ranks if (gpu := scene.gpu_of(one))),
            text=f"{'rank ' + str(rank) if ranks else 'several ranks'} failed first: {event.text or text}",
            passes=20,
        )
