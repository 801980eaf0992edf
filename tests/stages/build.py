"""A small job made by hand: its frames, samples and events, and stages that are fed with them."""

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from msgspec import Struct

from detectors.base import Floats
from schemas.telemetry import Entity, Event, Reading, SampleFrame, StepFrame
from schemas.topics import Record
from streams.stages.stage import Sent, Stage

START = 1_740_000_000.0
M = TypeVar("M", bound=Struct)
R = TypeVar("R")


class Job:
    """A synchronous job: every step is as long as its slowest rank works.

    Args:
        nodes: `n1`, `n2` and so on.
        ranks: on each node.
        attempt: number of the start.
        step: the first step.
        time: Unix seconds at which that step begins.
        seed: of the noise, one percent of the compute time.
    """

    def __init__(
        self,
        nodes: int = 2,
        ranks: int = 4,
        *,
        attempt: int = 1,
        step: int = 100,
        time: float = START,
        seed: int = 1,
    ) -> None:
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self.ranks = ranks
        self.size = nodes * ranks
        self.attempt, self.step, self.time = attempt, step, time
        self._noise = np.random.default_rng(seed)
        self._counts: dict[str, int] = {}

    def event(self, name: str, node: str = "launcher", subject: str = "", **data: Any) -> Event:  # Any: event data
        """Something that happens now."""
        return Event(**self._head(node), event=name, subject=subject, data=data)

    def started(self, **changed: Any) -> Event:  # Any: event data
        """The launcher's word on this attempt."""
        placement = [
            {"rank": rank, "node": self.node_of(rank), "gpu": f"GPU-{rank}", "pp": 0} for rank in range(self.size)
        ]
        data = {"world_size": self.size, "fingerprint": "f1", "placement": placement}
        return self.event("attempt.started", **{**data, **changed})

    def restarted(self, step: int, after: float = 60.0, nodes: int = 0) -> "Job":
        """The next attempt of the same job, with its own sources."""
        count = nodes or len(self.nodes)
        return Job(count, self.ranks, attempt=self.attempt + 1, step=step, time=self.time + after, seed=self.attempt)

    def node_of(self, rank: int) -> str:
        """The node that a rank runs on."""
        return self.nodes[rank // self.ranks]

    def run(
        self,
        steps: int,
        *,
        slow: Mapping[int, float] | None = None,
        loader: float = 0.03,
        waiting: float = 0.05,
        loss: Reading = 2.0,
        **job_values: Reading,
    ) -> list[StepFrame]:
        """Train on for some steps.

        Args:
            slow: rank -> factor on its compute time.
            loader: seconds that each rank waits for its batch.
            waiting: seconds of the fastest collective.
        """
        frames = []
        for _ in range(steps):
            compute = 1.0 + 0.01 * self._noise.random(self.size)
            for rank, factor in (slow or {}).items():
                compute[rank] *= factor
            seconds = float(compute.max()) + loader + waiting
            self.time += seconds
            values = {"loss": loss, "tokens": 1000.0, **job_values}
            frames += self._frames(seconds, compute, loader, values)
            self.step += 1
        return frames

    def sample(
        self, of: Entity, ids: list[str], node: str, ranks: list[int] | None = None, **values: list[Reading]
    ) -> SampleFrame:
        """What is read on a node now."""
        return SampleFrame(**self._head(node), of=of, ids=ids, ranks=ranks or [], values=values)

    def _frames(
        self, seconds: float, compute: Floats, loader: float, job_values: Mapping[str, Reading]
    ) -> list[StepFrame]:
        frames = []
        for place, node in enumerate(self.nodes):
            ranks = list(range(place * self.ranks, (place + 1) * self.ranks))
            own = compute[ranks]
            values: dict[str, list[Reading]] = {
                "step_seconds": [seconds] * self.ranks,
                "compute_seconds": own.tolist(),
                "loader_seconds": [loader] * self.ranks,
                "wait_seconds": (seconds - own - loader).tolist(),
            }
            told = dict(job_values) if place == 0 else {}
            frames.append(StepFrame(**self._head(node), step=self.step, ranks=ranks, values=values, job_values=told))
        return frames

    def _head(self, node: str) -> dict[str, Any]:  # Any: the fields every record has
        number = self._counts[node] = self._counts.get(node, -1) + 1
        return {"job": "toy", "attempt": self.attempt, "node": node, "seq": number, "time": self.time}


class Fed(Generic[M]):
    """A stage with its memory and everything it said."""

    def __init__(self, stage: Stage[M], key: str = "toy") -> None:
        self.stage = stage
        self.memory = stage.blank(key)
        self.said: list[Sent] = []

    def feed(self, *records: Record) -> list[Sent]:
        """Feed records one after the other; give what was said to these."""
        told = [sent for record in records for sent in self.stage.feed(self.memory, record)]
        self.said += told
        return told

    def flush(self) -> list[Sent]:
        """Say that nothing more will come."""
        told = list(self.stage.flush(self.memory))
        self.said += told
        return told

    def told(self, kind: type[R]) -> list[R]:
        """Everything of one kind that was said, revisions included."""
        return of_kind(self.said, kind)


def of_kind(said: Iterable[Sent], kind: type[R]) -> list[R]:
    """The records of one kind."""
    return [sent.record for sent in said if isinstance(sent.record, kind)]
