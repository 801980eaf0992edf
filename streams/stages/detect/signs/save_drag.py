"""Saves that are written beside the training and slow it down, each time, for as long as they are written."""

import statistics
from collections.abc import Iterator

from msgspec import Struct

from schemas.wording import amount, step_words
from streams.stages.detect.beside_saves import Drag
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 2
"""Saves that have to slow the job down."""
LOST = 0.02
"""Least share of the time between saves that is lost to them."""
MOSTLY = 0.6
"""Share of the saves that do so."""
CALM = 3
"""So many saves in a row that do not, and it is over."""


class SaveDragMemory(Struct):
    """How many saves had been looked at, and the step of the first that was told of; None while none is."""

    judged: int = 0
    told: int | None = None
    attempt: int = 0


class SaveDrag(Sign[SaveDragMemory]):
    """Tell what asynchronous saves cost the steps beside them, once for all saves."""

    name = "save_drag"
    memory = SaveDragMemory

    def step(self, memory: SaveDragMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Look again when another save has been judged."""
        beside = scene.attempt.saves.beside
        if memory.attempt != scene.run:
            memory.attempt, memory.judged, memory.told = scene.run, 0, None
        if beside.count == memory.judged:
            return
        memory.judged, drags = beside.count, beside.drags
        slow = [one for one in drags if one.seconds > 0]
        if memory.told is None and self._is_worth_telling(drags, slow, closed.time):
            memory.told = slow[0].step
            yield self._seen(slow, memory.told)
        elif memory.told is not None and not any(one.seconds > 0 for one in drags[-CALM:]):
            yield Seen(sign=self.name, again=str(memory.told), onset_time=closed.time, over=True, end_step=closed.step)
            memory.told = None

    def _is_worth_telling(self, drags: list[Drag], slow: list[Drag], now: float) -> bool:
        if len(slow) < FEWEST or len(slow) < MOSTLY * len(drags):
            return False
        between = (slow[-1].time - slow[0].time) / (len(slow) - 1)
        return statistics.median(one.seconds for one in slow) >= LOST * between

    def _seen(self, slow: list[Drag], told: int) -> Seen:
        first, lost = slow[0], statistics.median(one.seconds for one in slow)
        between = (slow[-1].time - first.time) / (len(slow) - 1)
        waits = statistics.median(one.waited for one in slow) > lost / 2
        what = "the job waits for the save before to be written" if waits else "steps beside the saves are slower"
        return Seen(
            sign=self.name,
            again=str(told),
            onset_time=first.time,
            onset_step=first.step if first.step >= 0 else None,
            before=0.0,
            after=lost,
            numbers={"saves": float(len(slow)), "lost_share": lost / between},
            text=(
                f"{what} since {step_words(first.step)}: {amount('step_seconds', lost)} "
                f"lost with each, {lost / between:.0%} of the time from one to the next"
            ),
        )
