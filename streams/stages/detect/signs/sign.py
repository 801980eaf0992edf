"""What a sign is: a pattern over the events and values of a job, with a memory of its own."""

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from msgspec import Struct

from schemas.telemetry import Event
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.episodes import step_at
from streams.stages.detect.memory import Attempt
from streams.stages.detect.samples import Moment

M = TypeVar("M", bound=Struct)


class Scene(Struct):
    """Where a sign is looked for.

    Attributes:
        job: the key.
        attempt: that is running, or the last one.
        clock: the stream's clock, Unix seconds.
    """

    job: str
    cluster: str
    attempt: Attempt
    clock: float

    @property
    def run(self) -> int:
        """The number of the attempt; of a run that began anew under it, another one that no attempt has."""
        return self.attempt.number if not self.attempt.runs else -(self.attempt.number << 20) - self.attempt.runs

    @property
    def step(self) -> int | None:
        """The last step that any rank reported."""
        return self.attempt.top_step if self.attempt.top_step >= 0 else None

    @property
    def progress(self) -> float:
        """Unix seconds of the last progress, or of the start."""
        begun = self.attempt.started if self.attempt.started is not None else self.clock
        return self.attempt.progress if self.attempt.progress is not None else begun

    def step_at(self, time: float) -> int | None:
        """The step that was running at a moment."""
        return step_at(self.attempt.moments, time)

    def node_of(self, rank: int) -> str:
        """The node a rank runs on, or ""."""
        people = self.attempt.participants
        return people.nodes[people.index[rank]] if rank in people.index else ""

    def gpu_of(self, rank: int) -> str:
        """The GPU a rank runs on, or ""."""
        people = self.attempt.participants
        return people.gpus[people.index[rank]] if rank in people.index else ""


class Seen(Struct, kw_only=True):
    """What a sign saw; becomes a detection, or revises or ends the one of the same place.

    Attributes:
        subject: as of a detection.
        again: tells two findings about the same subject apart.
        passes: it is over once the job has trained on for so many steps; 0 where the sign says so itself.
        over: it has ended, with `end_step` as its last step; None for the present one.
    """

    sign: str
    subject: str = "job"
    again: str = ""
    part: str = ""
    onset_time: float
    onset_step: int | None = None
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    before: float | None = None
    after: float | None = None
    numbers: dict[str, float] = {}
    text: str = ""
    passes: int = 0
    over: bool = False
    end_step: int | None = None


class Sign(Generic[M]):
    """A pattern. A subclass overrides what it wants to hear of; `memory` is the type of its memory.

    Everything it keeps stands in the memory, so that one object serves any number of jobs.
    """

    name: str
    memory: type[M]

    def event(self, memory: M, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take an event of the job, in order of arrival."""
        yield from ()

    def step(self, memory: M, scene: Scene, closed: ClosedStep, phase: str) -> Iterator[Seen]:
        """Take a closed step; `phase` names the legitimate phase that reaches into it, or is ""."""
        yield from ()

    def moment(self, memory: M, scene: Scene, moment: Moment) -> Iterator[Seen]:
        """Take a closed moment of samples."""
        yield from ()

    def time(self, memory: M, scene: Scene) -> Iterator[Seen]:
        """Look at the clock, about once per second of the stream."""
        yield from ()


AnySign = Sign[Any]  # Any: the catalogue holds signs of different memories
