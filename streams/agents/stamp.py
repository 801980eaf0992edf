"""What makes a record this agent's own: its node, its start, its number, and the job it speaks of."""

from collections.abc import Mapping
from typing import Any

from schemas.ids import derived_id
from schemas.telemetry import Event, SampleFrame, StepFrame
from streams.agents.assemble import Assembled
from streams.agents.finding import Finding, Happening, LoggedStep, Of, Sample


class Stamp:
    """Makes records and numbers them.

    Args:
        node: name of the node.
        cluster: name of the cluster.
        started: Unix seconds of the agent's start.
        process: number of its process; with `started` it makes the id of this start.
        boot: the id of this start, where it is known already.
    """

    def __init__(self, node: str, cluster: str, started: float, process: int, boot: str = "") -> None:
        self.node, self.cluster = node, cluster
        self.boot = boot or derived_id(node, started, process)
        self._seq = 0

    def steps(self, assembled: Assembled) -> StepFrame:
        """Make the frame of a step."""
        return StepFrame(
            job=assembled.job,
            attempt=assembled.attempt,
            time=assembled.time,
            step=assembled.step,
            ranks=assembled.ranks,
            values=assembled.values,
            job_values=assembled.job_values,
            **self._mark(),
        )

    def record(self, job: str, attempt: int, now: float, finding: Finding) -> StepFrame | SampleFrame | Event:
        """Make the record of a finding; `now` is its time where the source does not say."""
        if isinstance(finding, Of):
            finding = finding.finding
        time = now if finding.time is None else finding.time
        if isinstance(finding, Sample):
            return self.samples(job, attempt, time, finding)
        if isinstance(finding, Happening):
            subject = finding.subject or (self.node if finding.event.startswith("node.") else "")
            return self.event(job, attempt, time, finding.event, finding.data, subject, finding.text)
        return self.logged(job, attempt, time, finding)

    def logged(self, job: str, attempt: int, time: float, step: LoggedStep) -> StepFrame:
        """Make the frame of a step that a log tells of: it speaks for the job, not for ranks."""
        return StepFrame(
            job=job,
            attempt=attempt,
            time=time,
            step=step.step,
            job_values=step.values,
            every=step.every,
            mean=step.mean,
            **self._mark(),
        )

    def samples(self, job: str, attempt: int, time: float, sample: Sample) -> SampleFrame:
        """Make the frame of a sample; a sample without ids is the node's own."""
        return SampleFrame(
            job=job,
            attempt=attempt,
            time=time,
            of=sample.of,
            ids=sample.ids or [self.node],
            ranks=sample.ranks,
            values=sample.values,
            **self._mark(),
        )

    def event(
        self,
        job: str,
        attempt: int,
        time: float,
        name: str,
        data: Mapping[str, Any],  # Any: each event has its own fields
        subject: str = "",
        text: str = "",
    ) -> Event:
        """Make an event."""
        return Event(
            job=job,
            attempt=attempt,
            time=time,
            event=name,
            subject=subject,
            data=dict(data),
            text=text,
            **self._mark(),
        )

    def _mark(self) -> dict[str, Any]:  # Any: a name or a number
        self._seq += 1
        return {"node": self.node, "cluster": self.cluster, "boot": self.boot, "seq": self._seq - 1}
