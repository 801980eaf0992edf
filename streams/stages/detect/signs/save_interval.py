"""How often to save: the job's own pauses and failures against the distance at which it saves."""

import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from detectors.checkpoint_interval import SavingCost, best_interval, saving_cost
from schemas.telemetry import Event
from schemas.wording import amount
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

KNOWN, KEPT = 4, 8
"""Saves that have to be known, and that are kept."""
LEAST_SECONDS = 3600.0
"""Training that has to be known, or its rate of failures says nothing."""
WORTH = 0.01
"""Share of the job's time that another distance has to spare."""
CERTAIN = 3.0
"""Failures that may not have come by chance: where none was seen, it is fewer than three in 95 of 100 such jobs."""


class SaveIntervalMemory(Struct):
    """What saving costs this job, and how often it has failed, over all its attempts.

    Attributes:
        trained: seconds from step to step, pauses left out.
        since: of them since the last save.
        pauses: seconds of the last saves that blocked; `distances` the training between them.
        saved: when the last save ended, Unix seconds; `time` the last step.
        told: attempt in which it was told.
    """

    trained: float = 0.0
    since: float = 0.0
    pauses: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    saved: float = 0.0
    time: float = 0.0
    failures: int = 0
    attempt: int = 0
    told: int = -1


class SaveInterval(Sign[SaveIntervalMemory]):
    """Advise another distance between saves where it would surely spare the job a hundredth of its time."""

    name = "save_interval"
    memory = SaveIntervalMemory

    def event(self, memory: SaveIntervalMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Count failures; another configuration has other pauses."""
        if event.event == "attempt.ended" and event.data.get("reason") == "failed":
            memory.failures += 1
        elif event.event == "config.changed":
            memory.pauses, memory.distances = [], []
        yield from ()

    def step(self, memory: SaveIntervalMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Count training, and look at the costs whenever a save has ended."""
        if memory.attempt != scene.run:
            memory.attempt, memory.saved, memory.since = scene.run, scene.attempt.saves.last_end, 0.0
            memory.time = closed.time
        pause = closed.job.get("checkpoint_seconds", 0.0)
        trained = max(0.0, closed.time - memory.time - pause)
        memory.time = closed.time
        memory.trained += trained
        memory.since += trained
        if scene.attempt.saves.last_end == memory.saved:
            return
        first, memory.saved = not memory.saved, scene.attempt.saves.last_end
        if pause > 0 and not first:
            memory.pauses = [*memory.pauses[1 - KEPT :], pause]
            memory.distances = [*memory.distances[1 - KEPT :], memory.since]
            yield from self._advise(memory, closed)
        memory.since = 0.0

    def _advise(self, memory: SaveIntervalMemory, closed: ClosedStep) -> Iterator[Seen]:
        if len(memory.pauses) < KNOWN or memory.trained < LEAST_SECONDS or memory.told == memory.attempt:
            return
        pause, distance = statistics.median(memory.pauses), statistics.median(memory.distances)
        if distance <= 0:
            return
        advice = _advice(memory, distance, pause)
        if advice is not None:
            memory.told = memory.attempt
            yield self._seen(memory, closed, *advice)

    def _seen(self, memory: SaveIntervalMemory, closed: ClosedStep, now: SavingCost, best: SavingCost) -> Seen:
        way = "more rarely" if best.interval_seconds > now.interval_seconds else "more often"
        return Seen(
            sign=self.name,
            again=str(memory.attempt),
            onset_time=closed.time,
            onset_step=closed.step,
            before=now.interval_seconds,
            after=best.interval_seconds,
            numbers={
                "cost": now.total,
                "best_cost": best.total,
                "paused": now.paused,
                "lost": now.lost,
                "failures": float(memory.failures),
            },
            text=(
                f"saving {way} would spare {amount('checkpoint_share', now.total - best.total)} of the time: every "
                f"{amount('interval_seconds', best.interval_seconds)} of training and not every "
                f"{amount('interval_seconds', now.interval_seconds)}, with pauses of "
                f"{amount('checkpoint_seconds', statistics.median(memory.pauses))} and {memory.failures} failures in "
                f"{amount('interval_seconds', memory.trained)}"
            ),
            passes=KEPT,
        )


def _advice(memory: SaveIntervalMemory, distance: float, pause: float) -> tuple[SavingCost, SavingCost] | None:
    """Give what saving costs now and at the best distance.

    A longer one has to be better even if the job fails as often as it may, a shorter one even if as rarely.
    """
    often = (memory.failures + CERTAIN) / memory.trained
    rarely = (memory.failures - 2 * memory.failures**0.5) / memory.trained
    for rate, longer in ((often, True), (rarely, False)):
        if rate <= 0 or rate * pause >= 2:
            continue  # it never fails, or faster than it can be saved
        now = saving_cost(distance, pause, rate)
        best = saving_cost(best_interval(pause, rate), pause, rate)
        if now.total - best.total >= WORTH and (best.interval_seconds > distance) == longer:
            return now, best
    return None
