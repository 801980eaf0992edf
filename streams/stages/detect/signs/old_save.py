"""A run that goes on from an older save than the last complete one, without anybody having wanted it."""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import count, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.incomplete_save import broken_shards
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 5
"""Steps between the resume and the save that a log and a save may count differently."""
KEPT = 64
PASSING = re.compile("local|memory|replica|peer", re.IGNORECASE)
"""Modes of saves that live in the machines and may be gone with one of them."""
WANTED = re.compile("roll|revert|back|earlier|skip|manual|operator|deliberate|planned|experiment", re.IGNORECASE)
"""Reasons of a start that goes back by intention."""


class OldSaveMemory(Struct):
    """What was saved and trained, and how this attempt began.

    Attributes:
        saves: steps of complete saves.
        top: the last step trained by any attempt.
        trouble: the first step of the attempt before at which its loss or gradient was out of order; None for none.
        wanted: somebody stopped the run or announced a change since it last began.
        judging: this attempt goes on, and its first step was not seen yet.
        skipped_to: step of the save that was passed over, while its steps are trained again.
    """

    saves: list[int] = field(default_factory=list)
    top: int = -1
    trouble: int | None = None
    wanted: bool = False
    judging: bool = False
    fingerprint: str = ""
    world_size: int = 0
    resumed: int = 0
    resumed_time: float = 0.0
    skipped_to: int | None = None


class OldSave(Sign[OldSaveMemory]):
    """Hold the first step of a resumed attempt against the last complete save of those before it."""

    name = "old_save"
    memory = OldSaveMemory

    def event(self, memory: OldSaveMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Note saves, ends, starts and announced changes."""
        match event.event:
            case "checkpoint.end" if not PASSING.search(str(event.data.get("mode", ""))):
                step = as_count(event.data.get("step"))
                memory.saves = [*memory.saves[1 - KEPT :], step] if step is not None else memory.saves
            case "checkpoint.failed" | "checkpoint.shards" if _is_broken(event):
                memory.saves = [one for one in memory.saves if one != as_count(event.data.get("step"))]
            case "attempt.ended":
                memory.wanted |= event.data.get("reason") in ("stopped", "finished")
            case "config.changed":
                memory.wanted, memory.judging = True, False
            case "attempt.started":
                _start(memory, scene, event)
        yield from ()

    def step(self, memory: OldSaveMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Judge the first trained step of an attempt, and say when what was lost has been trained again."""
        if "loss" not in closed.job and "tokens" not in closed.job:
            return
        if memory.judging:
            memory.judging = False
            yield from self._judge(memory, closed)
        elif memory.skipped_to is not None and closed.step > memory.top:
            seen = self._seen(memory, memory.skipped_to)
            memory.skipped_to, seen.over = None, True
            yield seen
        memory.top = max(memory.top, closed.step)
        if memory.trouble is None and any(one.layer == "loss" for one in scene.attempt.active.values()):
            memory.trouble = closed.step

    def _judge(self, memory: OldSaveMemory, closed: ClosedStep) -> Iterator[Seen]:
        last = max((step for step in memory.saves if step <= memory.top), default=-1)
        sound = memory.trouble is None or memory.trouble < closed.step
        memory.trouble = None
        if sound and last - (closed.step - 1) >= FEWEST:
            memory.resumed, memory.resumed_time, memory.skipped_to = closed.step, closed.time, last
            yield self._seen(memory, last)

    def _seen(self, memory: OldSaveMemory, last: int) -> Seen:
        lost = last - (memory.resumed - 1)
        return Seen(
            sign=self.name,
            onset_time=memory.resumed_time,
            onset_step=memory.resumed,
            before=float(last),
            after=float(memory.resumed - 1),
            numbers={"steps": float(lost)},
            text=(
                f"the run went on at {step_words(memory.resumed)}, although the save at {step_words(last)} was "
                f"complete: {count(lost, 'step')} of it are trained again"
            ),
        )


def _start(memory: OldSaveMemory, scene: Scene, event: Event) -> None:
    now = (scene.attempt.fingerprint, scene.attempt.world_size)
    known = bool(now[0]) and now == (memory.fingerprint, memory.world_size)
    wanted = memory.wanted or bool(WANTED.search(str(event.data.get("reason") or "")))
    memory.judging = known and not wanted and memory.top >= 0
    memory.fingerprint, memory.world_size = now
    memory.wanted = False


def _is_broken(event: Event) -> bool:
    sizes = event.data.get("sizes")
    counts = [size for one in (sizes if isinstance(sizes, list) else []) if (size := as_count(one)) is not None]
    return event.event == "checkpoint.failed" or any(broken_shards(counts))
