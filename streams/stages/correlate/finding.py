"""What a case is made of: findings of detectors, and events that somebody told of."""

from schemas.detection import Detection
from schemas.ids import derived_id
from schemas.telemetry import Event
from streams.stages.correlate.memory import Case, CorrelateMemory

Finding = Detection | Event


def onset(finding: Finding) -> float:
    """Unix seconds at which it began."""
    return finding.time if isinstance(finding, Event) else finding.onset_time


def onset_step(memory: CorrelateMemory, finding: Finding) -> int | None:
    """The step in which it began; for an event, the one that has come."""
    return memory.step if isinstance(finding, Event) else finding.onset_step


def identity(finding: Finding) -> str:
    """The same for every revision of a finding, and for an event however often it comes."""
    if isinstance(finding, Detection):
        return finding.id
    stamped = finding.data.get("stamped", finding.time)
    return derived_id(finding.node, finding.boot, finding.seq, finding.event, stamped)


def seed_of(case: Case | None) -> Finding | None:
    """What a case was opened for; a moment after it was opened, its seed has not joined yet."""
    if case is None:
        return None
    seed = case.detections.get(case.seed)
    return seed if seed is not None else next((one for one in case.events if identity(one) == case.seed), None)
