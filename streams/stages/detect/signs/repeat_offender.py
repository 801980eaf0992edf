"""A GPU that had the same fault in another job before: once is the program, again and again is the GPU."""

from collections.abc import Iterator

from msgspec import Struct, field

from schemas.telemetry import Event, as_count
from streams.stages.detect.signs.sign import Scene, Seen, Sign

FEWEST = 3
"""Jobs in which the same GPU had the same fault."""
DAYS = 28
KEPT = 20_000


class RepeatOffenderMemory(Struct):
    """Per GPU and code: job -> Unix seconds of the last fault in it."""

    faults: dict[str, dict[str, float]] = field(default_factory=dict)


class RepeatOffender(Sign[RepeatOffenderMemory]):
    """Tell it from what the cluster's line says of a GPU, see `fleet`."""

    name = "repeat_offender"
    memory = RepeatOffenderMemory

    def event(self, memory: RepeatOffenderMemory, scene: Scene, event: Event) -> Iterator[Seen]:
        """Take what the fleet knows of a GPU of this job."""
        jobs = as_count(event.data.get("jobs"))
        if event.event != "fleet.repeated" or jobs is None or not event.subject:
            return
        yield Seen(
            sign=self.name,
            subject=f"gpu:{event.subject}",
            again=str(event.data.get("code")),
            onset_time=event.time,
            onset_step=scene.step,
            nodes=(str(event.data.get("node")),) if event.data.get("node") else (),
            gpus=(event.subject,),
            numbers={"jobs": float(jobs)},
            text=f"{event.subject} had Xid {event.data.get('code')} in {jobs} different jobs within {DAYS} days",
            passes=20,
        )
