"""The object of the contract: what `replay --json` and `demo --json` print."""

from collections.abc import Iterable

from schemas.codec import Plain, to_wire
from schemas.detection import Detection
from schemas.incident import Incident
from streams.line import LineMemory
from streams.stages.detect.job_memory import DetectMemory


def contract(
    records: int,
    rejected: int,
    memories: Iterable[LineMemory],
    detections: Iterable[Detection],
    incidents: Iterable[Incident],
) -> dict[str, Plain]:
    """Counts, and the last revision of every detection and of every incident in the order of their first.

    Args:
        records: lines or records that came in, readable or not.
        rejected: those that could not be read.
        memories: of all jobs, for their counters.
        detections: revisions, oldest first.
        incidents: revisions, oldest first.
    """
    counters = [stage.counters for memory in memories for stage in memory.stages if isinstance(stage, DetectMemory)]
    return {
        "records": records,
        "rejected": rejected,
        "repeated": sum(one.repeated for one in counters),
        "late": sum(one.late for one in counters),
        "detections": [to_wire(one) for one in {one.id: one for one in detections}.values()],
        "incidents": [to_wire(one) for one in {one.id: one for one in incidents}.values()],
    }
