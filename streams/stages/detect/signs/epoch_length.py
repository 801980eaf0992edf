"""Epochs that are not as long as those before: data are left out, or trained twice."""

import math
import statistics
from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event
from schemas.wording import count, step_words
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.signs.sign import Scene, Seen, Sign

OTHER = 0.05
"""Share of the usual length by which one has to be shorter or longer, beyond the steps of which nothing was told."""
FEWEST = 3
KEPT = 20


class EpochLengthMemory(Struct):
    """How long the epochs were.

    Attributes:
        epoch: that is going on; None before the first is known.
        began: its first step; None where that was not seen.
        seen: the last step.
        blur: steps untold before its first one and, when it ends, before the first of the next.
        resumed: first step and time of the attempt that went on in it; None where none did.
        lengths: of the epochs before, in steps, those that were like the others.
        told: the finding that is active: its `again`, else "".
    """

    epoch: int | None = None
    began: int | None = None
    seen: int = -1
    blur: int = 0
    resumed: tuple[int, float] | None = None
    lengths: list[int] = field(default_factory=list)
    fingerprint: str = ""
    world_size: int = 0
    fresh: bool = False
    told: str = ""


class EpochLength(Sign[EpochLengthMemory]):
    """Hold every epoch against those before, in the same configuration; steps that were taken back do not count."""

    name = "epoch_length"
    memory = EpochLengthMemory

    def event(self, memory: EpochLengthMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """In another configuration an epoch has another length."""
        if event.event == "attempt.started":
            now = (scene.attempt.fingerprint, scene.attempt.world_size)
            if now != (memory.fingerprint, memory.world_size):
                _forget(memory)
            memory.fingerprint, memory.world_size = now
            memory.fresh = True
        elif event.event == "config.changed":
            _forget(memory)
        yield from ()

    def step(self, memory: EpochLengthMemory, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Follow the epoch of a step."""
        given = closed.job.get("epoch")
        if given is None:
            return
        epoch = math.floor(given)
        if memory.fresh:
            memory.fresh = False
            _go_on(memory, epoch, closed)
        elif memory.epoch is not None and epoch == memory.epoch + 1:
            untold = closed.step - memory.seen - 1
            memory.blur += untold
            if memory.began is not None:
                yield from self._judge(memory, closed, closed.step - memory.began)
            memory.began, memory.resumed, memory.blur = closed.step, None, untold
        elif epoch != memory.epoch:
            memory.began, memory.resumed = None, None
        memory.epoch, memory.seen = epoch, closed.step

    def _judge(self, memory: EpochLengthMemory, closed: ClosedStep, length: int) -> Iterator[Seen]:
        usual = round(statistics.median(memory.lengths)) if memory.lengths else length
        if abs(length - usual) < memory.blur + max(FEWEST, OTHER * usual):
            memory.lengths = [*memory.lengths[1 - KEPT :], length]
            if memory.told:
                yield Seen(sign=self.name, again=memory.told, onset_time=closed.time, over=True, end_step=closed.step)
                memory.told = ""
            return
        step, time = memory.resumed or (closed.step, closed.time)
        memory.told = memory.told or str(step)
        what = "were left out" if length < usual else "more were trained than there are"
        since = " since the run was resumed" if memory.resumed is not None else ""
        yield Seen(
            sign=self.name,
            again=memory.told,
            part="short" if length < usual else "long",
            onset_time=time,
            onset_step=step,
            before=float(usual),
            after=float(length),
            text=(
                f"epoch {memory.epoch} had {count(length, 'step')} where {usual} are usual: the data of "
                f"{count(abs(length - usual), 'step')} {what}{since} ({step_words(step)})"
            ),
        )


def _forget(memory: EpochLengthMemory) -> None:
    memory.epoch, memory.began, memory.resumed, memory.lengths, memory.told = None, None, None, [], ""


def _go_on(memory: EpochLengthMemory, epoch: int, closed: ClosedStep) -> None:
    """Begin to follow an attempt: it goes on in the epoch that is known, or in one that is not."""
    known = memory.epoch == epoch and memory.began is not None and closed.step >= memory.began
    if memory.epoch is None and closed.step <= 1:
        memory.began = closed.step
    elif not known:
        memory.began = None
    memory.resumed = (closed.step, closed.time) if known else None
