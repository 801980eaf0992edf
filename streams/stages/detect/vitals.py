"""The vitals of a job: its values at one step or moment, with what is normal for it."""

from schemas.detection import Vitals
from schemas.telemetry import Reading
from streams.stages.detect import learned, samples, series
from streams.stages.detect.derive import ClosedStep
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.memory import Attempt


def of_step(memory: DetectMemory, attempt: Attempt, closed: ClosedStep, phase: str) -> Vitals:
    """Give the vitals of a step that has closed, in a phase or, with "", in none."""
    return Vitals(
        job=memory.key,
        attempt=attempt.number,
        cluster=memory.cluster,
        step=closed.step,
        time=closed.time,
        values={**closed.job, **{name: reading for name, reading in closed.readings.items() if name not in closed.job}},
        normal=series.newly_normal(attempt.series),
        phase=phase,
        world_size=attempt.world_size or len(attempt.participants.ranks),
        clock=memory.clock,
        records=memory.counters.records - memory.counters.repeated,
    )


def of_moment(
    memory: DetectMemory, attempt: Attempt, moment: samples.Moment, values: dict[str, float | None]
) -> Vitals:
    """Give the vitals of a moment of samples, with the job's values in it."""
    known: dict[str, Reading] = dict(values)
    return Vitals(
        job=memory.key,
        attempt=attempt.number,
        cluster=memory.cluster,
        of=moment.of,
        step=attempt.top_step if attempt.top_step >= 0 else None,
        time=moment.time,
        values=known,
        normal=learned.newly_normal(moment.entities),
        world_size=attempt.world_size,
        clock=memory.clock,
        records=memory.counters.records - memory.counters.repeated,
    )
