"""Puts what was seen into order of time and numbers it by source, as agents do."""

from typing import Any

import numpy as np

from detectors.base import Floats
from schemas.telemetry import Entity, Event, Inbound, Reading, SampleFrame, StepFrame
from streams.agents.simulation.conditions import Happening
from streams.agents.simulation.job import Job

CLOCK_OFFSET = 0.05
"""Seconds by which a node's clock is off at most."""
Draft = tuple[float, type[StepFrame | SampleFrame | Event], dict[str, Any]]  # Any: the fields of three record types


class Outbox:
    """Records of one simulation on their way out.

    Args:
        nodes: every node that takes part, in any attempt.
        generator: gives each node's clock its offset.
    """

    def __init__(self, nodes: tuple[str, ...], generator: np.random.Generator) -> None:
        offsets = generator.uniform(-CLOCK_OFFSET, CLOCK_OFFSET, len(nodes))
        self._offsets = dict(zip(nodes, (float(offset) for offset in offsets), strict=True))
        self._numbers: dict[str, int] = {}
        self._drafts: list[Draft] = []

    def event(self, job: Job, time: float, happening: Happening) -> None:
        """Add an event."""
        fields = {
            "event": happening.event,
            "subject": happening.subject,
            "data": happening.data,
            "text": happening.text,
        }
        self._add(Event, job, happening.node, time, fields)

    def steps(
        self,
        job: Job,
        node: str,
        time: float,
        step: int,
        values: dict[str, list[Reading]],
        job_values: dict[str, Reading],
    ) -> None:
        """Add the frame of a node at a step; `values` are those of the node's ranks."""
        fields = {"step": step, "ranks": job.ranks_on(node), "values": values, "job_values": job_values}
        self._add(StepFrame, job, node, time, fields)

    def line(self, job: Job, time: float, step: int, job_values: dict[str, Reading]) -> None:
        """Add the frame of a job-level log line, written by the first rank."""
        self._add(StepFrame, job, job.nodes[0], time, {"step": step, "job_values": job_values})

    def samples(
        self, job: Job, node: str, time: float, of: Entity, ids: list[str], ranks: list[int], values: dict[str, Floats]
    ) -> None:
        """Add a sample of a node's entities."""
        plain = {name: [float(f"{value:.7g}") for value in array] for name, array in values.items()}
        self._add(SampleFrame, job, node, time, {"of": of, "ids": ids, "ranks": ranks, "values": plain})

    def take(self, silent: set[str]) -> list[Inbound]:
        """Give what was added since the last time, in order of time; what silent nodes saw is lost."""
        drafts = sorted(self._drafts, key=lambda draft: draft[0])
        self._drafts = []
        return [self._numbered(draft) for draft in drafts if draft[2]["node"] not in silent]

    def _add(
        self, kind: type[StepFrame | SampleFrame | Event], job: Job, node: str, time: float, fields: dict[str, Any]
    ) -> None:  # Any: the fields of three record types
        seen = round(time + self._offsets.get(node, 0.0), 3)
        head = {"job": job.name, "attempt": job.attempt, "cluster": job.cluster, "node": node, "time": seen}
        self._drafts.append((seen, kind, head | fields))

    def _numbered(self, draft: Draft) -> Inbound:
        _, kind, fields = draft
        number = self._numbers.get(fields["node"], 0)
        self._numbers[fields["node"]] = number + 1
        return kind(seq=number, **fields)
