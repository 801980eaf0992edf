"""The life of a case: open while a member is active, recovering until the job has been well for a while, resolved."""

from playbooks.cause import Cause
from playbooks.diagnosis import opens
from schemas.detection import Detection
from streams.stages.correlate import overlap
from streams.stages.correlate.memory import LIVE, THINK_AGAIN, Case, CorrelateMemory

SETTLES_STEPS, SETTLES_SECONDS = 20, 30.0
"""After so many steps and seconds without another event the job has come over it, also where it may still come back."""
COMES_BACK = 1.5
"""Times the steps from an incident to its repetition after which it has not come back again."""
KEPT_SECONDS = 86400.0
"""A resolved case is remembered so long, to link its recurrence."""


def live(memory: CorrelateMemory, causes: tuple[Cause, ...]) -> None:
    """Move every case to the state its members say."""
    for case in list(memory.cases.values()):
        if case.state in LIVE:
            before = case.state
            _move(memory, case, causes)
            if case.state != before:
                case.unread = THINK_AGAIN
        elif case.end_time is not None and memory.clock - case.end_time > KEPT_SECONDS:
            del memory.cases[case.id]
    overlap.release(memory)


def step_closed(memory: CorrelateMemory) -> None:
    """Count the steps for which cases have been well, and those since the last event of a case of events alone."""
    for case in memory.cases.values():
        if case.state in LIVE:
            case.quiet_steps += 1


def _move(memory: CorrelateMemory, case: Case, causes: tuple[Cause, ...]) -> None:
    ends = [one.end_time for one in _felt(case, causes)]
    if not ends and case.events:
        _outlive(memory, case, causes)
        return
    if not ends or any(end is None for end in ends):
        if case.state == "recovering":
            case.state, case.quiet_since, case.quiet_steps = "open", None, 0
            case.end_step = case.end_time = None
        return
    if case.quiet_since is None:
        _quieten(case, causes)
    assert case.quiet_since is not None
    if _is_well(memory, case, causes, case.quiet_since) or (memory.ended and not case.dead):
        case.state = "resolved"


def _is_well(memory: CorrelateMemory, case: Case, causes: tuple[Cause, ...], since: float) -> bool:
    """What comes back now and then takes longer to be over than what does not."""
    cause = next((one for one in causes if one.cause == case.cause), None)
    steps, seconds = (
        (cause.settles_steps, cause.settles_seconds) if cause is not None else (SETTLES_STEPS, SETTLES_SECONDS)
    )
    if cause is not None and cause.settles_past and case.dead and _is_behind(memory, case):
        return False
    return case.quiet_steps >= max(steps, COMES_BACK * case.gap) and memory.clock - since >= seconds


def _is_behind(memory: CorrelateMemory, case: Case) -> bool:
    """The next attempt has begun further back, and has not come so far again."""
    return memory.step is not None and case.end_step is not None and memory.step <= case.end_step


def _outlive(memory: CorrelateMemory, case: Case, causes: tuple[Cause, ...]) -> None:
    """What the job does not feel has passed once the job has trained on, in this attempt or the next."""
    last = max(event.time for event in case.events)
    stands = any(one.end_time is None for one in case.detections.values())
    quiet = case.quiet_steps >= SETTLES_STEPS and memory.clock - last >= SETTLES_SECONDS
    case.state = "recovering" if quiet and not stands else "open"
    if not stands and _is_well(memory, case, causes, last):
        case.state, case.end_time, case.end_step = "resolved", last, case.onset_step


def _felt(case: Case, causes: tuple[Cause, ...]) -> list[Detection]:
    """The members that the job feels: a mount may stutter on while the job reads from elsewhere.

    A long save is felt while it lasts; what it says of the next one counts only where there is nothing else.
    """
    felt = [one for one in case.detections.values() if one.subject.startswith(("job", "rank:")) or opens(causes, one)]
    return [one for one in felt if one.detector != "checkpoint"] or felt


def _quieten(case: Case, causes: tuple[Cause, ...]) -> None:
    """The last active member has ended."""
    felt = _felt(case, causes)
    last = max(felt, key=lambda one: (one.end_time or 0.0, one.id))
    steps = [one.end_step for one in felt if one.end_step is not None]
    case.state, case.quiet_since, case.quiet_steps = "recovering", last.end_time, 0
    case.end_time, case.end_step = last.end_time, max(steps, default=None)
