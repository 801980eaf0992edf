"""GPU hours lost: time from step to step beyond the normal pace, times the GPUs that waited through it."""

import statistics

from playbooks.facts import Track
from schemas.detection import Vitals
from streams.stages.correlate.memory import Case, CorrelateMemory

FEWEST = 3


def begin(memory: CorrelateMemory, case: Case) -> None:
    """Freeze the normal pace of a new case, and add up what was lost between its onset and now."""
    track = memory.tracks.get("interval_seconds", Track())
    before = [v for t, v in zip(track.times, track.values, strict=True) if t <= case.onset_time]
    step = memory.tracks.get("step_seconds", Track())
    if len(before) >= FEWEST:
        case.normal_interval = statistics.median(before)
    else:
        case.normal_interval = step.normal
    if case.normal_interval is not None and _first(memory) is case:
        since = [v for t, v in zip(track.times, track.values, strict=True) if t > case.onset_time]
        case.lost_seconds = sum((max(0.0, value - case.normal_interval) for value in since), 0.0)


def accrue(memory: CorrelateMemory, vitals: Vitals, before: float | None, steps: int) -> None:
    """Add what the last steps lost, to the first case that is open: two causes do not lose the same second twice.

    Args:
        vitals: of the step that closed.
        before: Unix seconds at which the step before it ended.
        steps: training steps between the two.
    """
    case = _first(memory)
    if case is None or (vitals.phase and not _is_about_saves(case)):
        return  # an announced phase takes its time whether or not something is wrong
    if case.normal_interval is not None and before is not None:
        case.lost_seconds += max(0.0, vitals.time - before - steps * case.normal_interval)


def _is_about_saves(case: Case) -> bool:
    return any(one.detector == "checkpoint" for one in case.detections.values())


def gpu_seconds(memory: CorrelateMemory, case: Case) -> float:
    """GPU seconds lost so far, the present standstill included."""
    lost = case.lost_seconds
    stands = any(one.detector == "stalled" and one.end_time is None for one in case.detections.values())
    if stands and memory.step_time is not None and _first(memory) is case:
        lost += max(0.0, memory.clock - memory.step_time - (case.normal_interval or 0.0))
    return lost * memory.world_size


def _first(memory: CorrelateMemory) -> Case | None:
    going = [case for case in memory.cases.values() if case.state == "open"]
    return min(going, key=lambda case: (case.onset_time, case.id), default=None)
