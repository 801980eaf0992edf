"""What is remembered of a training run's own changes: those that move its numbers by right."""

from msgspec import Struct, field


class ByRight(Struct):
    """The loss scale, the epoch, and how much a step does.

    Attributes:
        trained: steps of this attempt that were not skipped.
        scale: the last loss scale.
        falls: it has just been lowered, and is not at its lowest.
        skipped: the last step has changed nothing.
        epoch: of the last step that told it, and the step at which it began; -1 where it has not changed yet.
        work: signal -> its last values, oldest first, of those that say how much a step does.
        ramping: signals of `work` that grow or shrink from step to step.
    """

    trained: int = 0
    scale: float | None = None
    falls: bool = False
    skipped: bool = False
    epoch: tuple[float, int] | None = None
    work: dict[str, list[float]] = field(default_factory=dict)
    ramping: list[str] = field(default_factory=list)
