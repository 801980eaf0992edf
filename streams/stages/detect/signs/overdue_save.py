"""A job that has trained on far longer than usual without a complete save: all of it is lost with the next failure."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from schemas.wording import amount, count, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

PATIENCE = 2.5
"""Times the longest of the usual distances between saves."""
KNOWN, KEPT = 3, 8
"""Distances that have to be known, and that are kept."""
UNFINISHED = 2
"""So many saves in a row that began and did not end: the end of one may have been lost on the way."""
SLOWER, LEAST_SECONDS = 3.0, 60.0
"""They have to be open for so many times as long as the longest that ended, and for so long."""


class Begun(Struct):
    """A save that began: the step it is of, and when."""

    step: int
    time: float


class OverdueSaveMemory(Struct):
    """Where the last complete save was, and how far saves are usually apart.

    Attributes:
        paused: Unix seconds at which the last save that was heard of ended.
        step: the step after the last complete save, or the first one of the attempt; `known` tells which.
        time: Unix seconds from which the age counts.
        distances: steps between the last saves.
        ended: a complete save was announced since the last step; `failed`: one that failed was.
        begun: saves that began since, and did not end; `longest`: seconds that the longest of the others took.
        waived: Unix seconds at which the next save was put off, or the plan became another one.
        told: a finding is open; `onset`: of the first save that did not end, else of the last complete one.
    """

    attempt: int = -1
    paused: float = 0.0
    step: int = -1
    time: float = 0.0
    known: bool = False
    distances: list[int] = field(default_factory=list)
    ended: bool = False
    failed: bool = False
    begun: list[Begun] = field(default_factory=list)
    longest: float = 0.0
    waived: float = 0.0
    told: bool = False
    onset: Begun = field(default_factory=lambda: Begun(-1, 0.0))


class OverdueSave(Sign[OverdueSaveMemory]):
    """Count the steps since the last complete save, whichever way it became known."""

    name = "overdue_save"
    memory = OverdueSaveMemory

    def event(self, memory: OverdueSaveMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """A save that was put off is not overdue, and another configuration may save at other distances."""
        if event.event == "config.changed":
            memory.distances, memory.waived = [], event.time
        elif event.event == "control.acknowledged" and str(event.data.get("setting", "")).startswith("checkpoint."):
            memory.waived = event.time
        elif event.event == "checkpoint.begin":
            _began(memory, event)
        elif event.event in ("checkpoint.end", "checkpoint.failed"):
            memory.ended = memory.ended or event.event == "checkpoint.end"
            memory.failed = event.event == "checkpoint.failed"
            _ended(memory, event)
        yield from ()

    def step(self, memory: OverdueSaveMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Count one step."""
        paused = scene.attempt.saves.last_end
        is_saved = memory.ended or (paused != memory.paused and not memory.failed)
        memory.paused, memory.ended, memory.failed = paused, False, False
        if memory.attempt != scene.run:
            memory.attempt = scene.run
            _begin(memory, closed, known=False)
        elif is_saved:
            if memory.told:
                yield self._seen(memory, closed, over=True)
            elif memory.known and closed.step > memory.step:
                memory.distances = [*memory.distances[1 - KEPT :], closed.step - memory.step]
            _begin(memory, closed, known=True)
        elif not memory.told and (_is_overdue(memory, closed) or _is_unfinished(memory, scene.clock)):
            memory.told = True
            memory.onset = memory.begun[0] if memory.begun else Begun(memory.step, memory.time)
            yield self._seen(memory, closed, over=False)

    def _seen(self, memory: OverdueSaveMemory, closed: ClosedStep, over: bool) -> Seen:
        since, seconds, usual = closed.step - memory.step, closed.time - memory.time, max(memory.distances, default=0)
        open_ones = f", and {count(len(memory.begun), 'save')} began and did not end" if memory.begun else ""
        usually = f", usually after {usual:,}" if usual else ""
        return Seen(
            sign=self.name,
            again=str(memory.step),
            onset_time=memory.onset.time,
            onset_step=memory.onset.step,
            before=float(usual),
            after=float(since),
            numbers={"steps": float(since), "usual": float(usual), "seconds_at_risk": seconds},
            text=(
                f"no complete save since {step_words(memory.step)}, {since:,} steps ago{usually}: "
                f"{amount('interval_seconds', seconds)} of training would be lost{open_ones}"
            ),
            over=over,
        )


def _begin(memory: OverdueSaveMemory, closed: ClosedStep, known: bool) -> None:
    """Count from here on; `known` where a save has just ended."""
    memory.step, memory.known = closed.step, known
    memory.time = memory.paused if known and memory.paused else closed.time
    memory.told = False
    memory.begun = []


def _step(event: Event) -> int:
    step = as_count(event.data.get("step"))
    return -1 if step is None else step


def _began(memory: OverdueSaveMemory, event: Event) -> None:
    """Every rank may tell of the same save."""
    step = _step(event)
    if step >= 0 and all(one.step != step for one in memory.begun):
        memory.begun = [*memory.begun[1 - KEPT :], Begun(step, event.time)]


def _ended(memory: OverdueSaveMemory, event: Event) -> None:
    """One that ended tells how long they take; one that failed is told elsewhere."""
    for one in memory.begun:
        if one.step == _step(event) and event.event == "checkpoint.end":
            memory.longest = max(memory.longest, event.time - one.time)
    memory.begun = [one for one in memory.begun if one.step > _step(event)]


def _is_unfinished(memory: OverdueSaveMemory, now: float) -> bool:
    """Saves that used to end begin one after the other, and none of them has ended in several times their time."""
    if len(memory.begun) < UNFINISHED or memory.longest <= 0 or memory.waived >= memory.time:
        return False
    return now - memory.begun[UNFINISHED - 1].time > max(LEAST_SECONDS, SLOWER * memory.longest)


def _is_overdue(memory: OverdueSaveMemory, closed: ClosedStep) -> bool:
    if len(memory.distances) < KNOWN or memory.waived >= memory.time:
        return False
    return closed.step - memory.step > PATIENCE * max(memory.distances)
