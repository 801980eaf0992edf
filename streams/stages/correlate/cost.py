"""GPU hours lost: time from step to step beyond the normal pace, times the GPUs that waited through it."""

import statistics

from playbooks.facts import MOST_BEFORE, Track
from schemas.detection import Vitals
from streams.stages.correlate.memory import Case, CorrelateMemory

FEWEST = 3
SLOWER = 1.02


def begin(memory: CorrelateMemory, case: Case) -> None:
    """Freeze the normal pace of a new case, and add up what was lost between its onset and now."""
    track = memory.tracks.get("interval_seconds", Track())
    before = [v for t, v in zip(track.times, track.values, strict=True) if t <= case.onset_time][-MOST_BEFORE:]
    step = memory.tracks.get("step_seconds", Track())
    if len(before) >= FEWEST:
        case.normal_interval = statistics.median(before)
    else:
        case.normal_interval = step.normal
    bearing = _bearing(memory)
    if case.normal_interval is not None and any(one is case for one in bearing):
        since = [v for t, v in zip(track.times, track.values, strict=True) if t > case.onset_time]
        case.lost_seconds = sum((max(0.0, value - case.normal_interval) for value in since), 0.0)
        if case is not bearing[0]:  # it was counted as the loss of the one before, until now
            bearing[-2].lost_seconds = max(0.0, bearing[-2].lost_seconds - case.lost_seconds)


def accrue(memory: CorrelateMemory, vitals: Vitals, before: float | None, steps: int) -> None:
    """Add what the last steps lost: two causes do not lose the same second twice.

    It is lost to the first case that is open; what goes beyond the pace at which a later one found the job, to that.

    Args:
        vitals: of the step that closed.
        before: Unix seconds at which the step before it ended.
        steps: training steps between the two.
    """
    spent = vitals.time - before if before is not None else None
    for case in reversed(_bearing(memory)):
        if vitals.phase and not _is_about_saves(case):
            continue  # an announced phase takes its time whether or not something is wrong
        if case.normal_interval is not None and spent is not None:
            normal = steps * case.normal_interval
            case.lost_seconds += max(0.0, spent - normal)
            spent = min(spent, normal)


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


def _bearing(memory: CorrelateMemory) -> list[Case]:
    """The first open case, and those that overtook it and found the job slower than the one before had."""
    chain: list[Case] = []
    case = _first(memory)
    while case is not None and case.state == "open":
        chain.append(case)
        later = memory.cases.get(case.overtaken_by)
        case = later if later is not None and _found_slower(later, case) else None
    return chain


def _found_slower(later: Case, earlier: Case) -> bool:
    return (later.normal_interval or 0.0) > SLOWER * (earlier.normal_interval or 0.0)
