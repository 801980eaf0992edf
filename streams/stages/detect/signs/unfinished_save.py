"""A save that began and never ended: the job stands, and everybody blames the network."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import amount, step_words
from streams.stages.detect.saves import is_blocking
from streams.stages.detect.signs.sign import Scene, Seen, Sign

BUDGET_SECONDS = 1200.0
"""So long a save may take before it counts as stuck by itself."""
SUSPECT_SECONDS = 60.0
"""So long it has to have been open when ranks time out or the attempt fails."""


class Begun(Struct):
    """A save in progress; `rank` is who writes it, where that was said."""

    time: float
    step: int | None
    rank: int | None


class UnfinishedSaveMemory(Struct):
    """Saves of the attempt that are open, by step."""

    open: dict[str, Begun] = field(default_factory=dict)
    told: bool = False


class UnfinishedSave(Sign[UnfinishedSaveMemory]):
    """Notice that a save is still open when ranks time out, when the attempt fails, or when its budget is used up."""

    name = "unfinished_save"
    memory = UnfinishedSaveMemory

    def event(self, memory: UnfinishedSaveMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Follow saves, and look at the open ones when the job is in trouble."""
        match event.event:
            case "attempt.started":
                memory.open, memory.told = {}, False
            case "checkpoint.begin" if is_blocking(event):
                step, rank = as_count(event.data.get("step")), as_count(event.data.get("rank"))
                memory.open[str(step)] = Begun(event.time, step, rank)
            case "checkpoint.end" | "checkpoint.failed":
                memory.open.pop(str(as_count(event.data.get("step"))), None)
            case "nccl.timeout":
                yield from self._stuck(memory, scene, event.time, SUSPECT_SECONDS)

    def time(self, memory: UnfinishedSaveMemory, scene: Scene) -> Iterator[Seen]:
        """Look whether a save has used up its budget while no step came."""
        if memory.open and scene.attempt.ended is None:
            yield from self._stuck(memory, scene, scene.clock, BUDGET_SECONDS)

    def _stuck(self, memory: UnfinishedSaveMemory, scene: Scene, now: float, patience: float) -> Iterator[Seen]:
        for save in list(memory.open.values()):
            through = scene.attempt.through
            went_on = scene.attempt.progress is not None and scene.attempt.progress > save.time + SUSPECT_SECONDS
            if went_on or (through is not None and through >= save.time):
                memory.open.clear()  # the job trained on, or is done: the end was lost
                return
            if not memory.told and now - save.time >= patience:
                memory.told = True
                yield self._told(scene, save, now)

    def _told(self, scene: Scene, save: Begun, now: float) -> Seen:
        ranks = (save.rank,) if save.rank is not None else ()
        who = f", written by rank {save.rank}" if ranks else ""
        waited = amount("checkpoint_seconds", now - save.time)
        return Seen(
            sign=self.name,
            onset_time=save.time,
            onset_step=save.step,
            ranks=ranks,
            nodes=tuple(node for rank in ranks if (node := scene.node_of(rank))),
            gpus=tuple(gpu for rank in ranks if (gpu := scene.gpu_of(rank))),
            after=now - save.time,
            text=f"the save at {step_words(save.step)}{who} began and has not ended after {waited}",
            passes=20,
        )
