"""Saves that take longer and longer: the path they are written to fills up, or is shared with somebody new."""

import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import amount, step_words
from streams.stages.detect.saves import LONGEST_SECONDS
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FIRST = 5
"""Saves that make the usual duration; the very first one, which also makes folders and connections, is left out."""
ROW = 3
"""So many in a row have to be slow, or in order again."""
SLOW, CALM = 1.5, 1.25
"""Times the usual duration from which saves are slow, and below which they are in order again."""
LEAST_SECONDS = 5.0


class Save(Struct):
    """One complete save; `size` is its bytes, 1 where they are not known."""

    step: int | None
    time: float
    seconds: float
    size: float


class SavesOfMode(Struct):
    """Saves of one mode: the usual seconds per byte (or per save), and the last saves, oldest first."""

    first: list[float] = field(default_factory=list)
    sized: bool = False
    seen: int = 0
    latest: list[Save] = field(default_factory=list)
    told: Save | None = None


class SlowingSavesMemory(Struct):
    """What is known of saves that block training, and of those that do not; begins of those that are open."""

    modes: dict[str, SavesOfMode] = field(default_factory=dict)
    begun: dict[int, float] = field(default_factory=dict)
    fingerprint: str = ""
    world_size: int = 0


class SlowingSaves(Sign[SlowingSavesMemory]):
    """Hold the last saves, whether training waits for them or not, against the first ones of the same configuration."""

    name = "slowing_saves"
    memory = SlowingSavesMemory

    def event(self, memory: SlowingSavesMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take a save that is complete."""
        step = as_count(event.data.get("step"))
        if event.event == "attempt.started":
            now = (scene.attempt.fingerprint, scene.attempt.world_size)
            memory.begun.clear()
            if now != (memory.fingerprint, memory.world_size):
                memory.modes.clear()
            memory.fingerprint, memory.world_size = now
        elif event.event == "config.changed":
            memory.modes.clear()
        elif event.event == "checkpoint.begin" and step is not None:
            memory.begun.setdefault(step, event.time)
        elif event.event in ("checkpoint.end", "checkpoint.failed"):
            begun = memory.begun.pop(step, None) if step is not None else None
            save = _save(event, step, begun) if event.event == "checkpoint.end" else None
            if save is not None:
                mode = str(event.data.get("mode", "sync"))
                yield from self._judge(memory.modes.setdefault(mode, SavesOfMode()), save, mode)

    def _judge(self, saves: SavesOfMode, save: Save, mode: str) -> Iterator[Seen]:
        saves.seen += 1
        if saves.seen == 1:
            saves.sized = save.size > 1.0
            return
        if saves.sized != (save.size > 1.0):
            return  # a save whose size is not known says nothing among those whose is
        if len(saves.first) < FIRST:
            saves.first.append(save.seconds / save.size)
            return
        usual = statistics.median(saves.first)
        saves.latest = [*saves.latest[1 - ROW :], save]
        if len(saves.latest) < ROW:
            return
        times = [one.seconds / one.size / usual if usual else 1.0 for one in saves.latest]
        excess = min(one.seconds - usual * one.size for one in saves.latest)
        if saves.told is None and min(times) >= SLOW and excess >= LEAST_SECONDS:
            saves.told = saves.latest[0]
            yield self._seen(saves.told, saves.latest, usual, mode, over=False)
        elif saves.told is not None and max(times) < CALM:
            yield self._seen(saves.told, saves.latest, usual, mode, over=True)
            saves.told = None

    def _seen(self, since: Save, latest: list[Save], usual: float, mode: str, over: bool) -> Seen:
        seconds = statistics.median(one.seconds for one in latest)
        size = statistics.median(one.size for one in latest)
        return Seen(
            sign=self.name,
            subject=f"saves:{mode}",
            again=str(since.time),
            onset_time=since.time,
            onset_step=since.step,
            before=usual * size,
            after=seconds,
            numbers={"times": seconds / (usual * size) if usual else 1.0},
            text=(
                f"saves ({mode}) take {amount('checkpoint_seconds', seconds)} since {step_words(since.step)}, "
                f"{amount('checkpoint_seconds', usual * size)} at first"
            ),
            over=over,
        )


def _save(event: Event, step: int | None, begun: float | None) -> Save | None:
    given, size = _number(event.data.get("seconds")), _number(event.data.get("bytes"))
    seconds = given if given is not None else event.time - begun if begun is not None else 0.0
    if not 0 < seconds <= LONGEST_SECONDS:
        return None
    return Save(step=step, time=event.time - seconds, seconds=seconds, size=max(size or 1.0, 1.0))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
