"""Whether a finding belongs to a case: one cause explains both, their entities agree, and their onsets fit."""

from playbooks.cause import UNKNOWN, Cause, comes_back, covers
from playbooks.clues import is_event, is_found
from playbooks.diagnosis import Diagnosis, explains
from schemas.detection import Detection
from schemas.telemetry import Event
from streams.stages.correlate.finding import Finding, onset, seed_of
from streams.stages.correlate.memory import Case

LEAD_SECONDS = 900.0
"""A finding may have begun so long before the case it joins."""
TAIL_SECONDS = 120.0
"""A finding may begin so long after the last member has ended."""
TOGETHER_SECONDS = 60.0
"""Two different culprits belong to one case only if they began so close to each other."""
OF_A_GPU = ("xid", "gpu.off_bus", "gpu.lost", "job.fault")
"""Events whose subject is the GPU at fault."""
FAILURES = ("crash", "rank_error")
"""What is found when an attempt fails."""
LATE_SECONDS, LATE_STEPS = 15.0, 50
"""What a cause needs to have seen may begin so much later than what it explains: onsets are dated with some error."""


def may_join(case: Case, causes: tuple[Cause, ...], finding: Finding) -> bool:
    """Tell whether a finding fits a case, as far as that is known before a diagnosis is made of both together."""
    return _fits_in_time(case, causes, finding) and _is_explicable(causes, case, finding)


def belongs(together: Diagnosis, case: Case, finding: Finding) -> bool:
    """Tell whether a finding belongs to a case.

    Args:
        together: the diagnosis of the case with the finding.
        case: in the state before.
        finding: the newcomer.
    """
    fits = _explains_both(together, case, finding) and _agrees(together, case, finding)
    apart = (_comes_after, _was_over, _is_more, _fails_anew)
    return fits and not any(is_apart(together.cause, case, finding) for is_apart in apart)


def _is_explicable(causes: tuple[Cause, ...], case: Case, finding: Finding) -> bool:
    """Some cause explains the newcomer and what the case was opened for: cheap to ask before a diagnosis is made."""
    seed = seed_of(case)
    return any(explains(cause, finding) and (seed is None or explains(cause, seed)) for cause in causes)


def _fits_in_time(case: Case, causes: tuple[Cause, ...], finding: Finding) -> bool:
    if isinstance(finding, Detection) and not _resumes(case, causes, finding):
        return False
    pausing = case.gap > 0 or any(one.cause == case.cause and comes_back(one) for one in causes)
    for_ever = case.quiet_since is None or pausing or _survives(case, finding) or _fails_of_it(case, finding)
    latest = float("inf") if for_ever or case.quiet_since is None else case.quiet_since + TAIL_SECONDS
    return case.onset_time - LEAD_SECONDS <= onset(finding) <= latest


def _survives(case: Case, finding: Finding) -> bool:
    """What an attempt failed of, and the next one has again, goes on, however long the restart took."""
    if not case.dead or not isinstance(finding, Detection):
        return False
    kind = (finding.detector, finding.signal, finding.part)
    return any((one.detector, one.signal, one.part) == kind for one in case.detections.values())


def _fails_of_it(case: Case, finding: Finding) -> bool:
    """Where no step was trained since, what an attempt fails of may have been long ago: time-outs are long."""
    if not isinstance(finding, Detection) or finding.detector not in FAILURES or case.outlived is not None:
        return False
    known = finding.onset_step is not None and case.onset_step is not None
    return known and (finding.onset_step or 0) - (case.onset_step or 0) <= 1


def _resumes(case: Case, causes: tuple[Cause, ...], finding: Detection) -> bool:
    """A case that has become quiet is a finished story: what begins later belongs to it only as more of the same."""
    if case.quiet_since is None or finding.onset_time <= case.quiet_since:
        return True
    if any(one.signal == finding.signal for one in case.detections.values()):
        return True
    return any(one.cause == case.cause != UNKNOWN and explains(one, finding) for one in causes)


def _explains_both(together: Diagnosis, case: Case, finding: Finding) -> bool:
    """The leading cause explains the newcomer and what the case was opened for."""
    seed = seed_of(case)
    return explains(together.cause, finding) and (seed is None or explains(together.cause, seed))


def _comes_after(cause: Cause, case: Case, finding: Finding) -> bool:
    """What a cause cannot do without has to be there when the first of its effects is."""
    seed = seed_of(case)
    if not isinstance(finding, Detection) or not isinstance(seed, Detection) or seed.attempt != finding.attempt:
        return False
    if finding.onset_step is None or seed.onset_step is None or finding.onset_step - seed.onset_step <= LATE_STEPS:
        return False
    is_late = finding.onset_time - seed.onset_time > LATE_SECONDS
    return (
        is_late and _is_needed(cause, finding) and not any(_is_needed(cause, one) for one in case.detections.values())
    )


def _was_over(cause: Cause, case: Case, finding: Finding) -> bool:
    """What had come and gone well before the case began is no effect of its cause, but may be a sign of it."""
    if not isinstance(finding, Detection) or finding.end_time is None:
        return False
    speaks = any(clue.weight > 0 and is_found(clue, finding) for clue in cause.clues)
    return finding.end_time < case.onset_time - TOGETHER_SECONDS and not speaks


def _is_more(cause: Cause, case: Case, finding: Finding) -> bool:
    """What nobody can explain takes up what is seen of the loader only where that began with it."""
    of_loader = isinstance(finding, Detection) and finding.signal.startswith("loader_")
    return cause.cause == UNKNOWN and of_loader and onset(finding) - case.onset_time > LATE_SECONDS


def _fails_anew(cause: Cause, case: Case, finding: Finding) -> bool:
    """What no attempt has failed of yet is not why a later one fails, unless failures speak for it."""
    failed = any(one.detector in FAILURES for one in case.detections.values())
    if failed or case.outlived is None or onset(finding) <= case.outlived:
        return False
    if isinstance(finding, Event):
        speaks = any(clue.weight > 0 and is_event(clue, finding) for clue in cause.clues)
        return covers(cause.teardown, finding.event) and not speaks
    return finding.detector in FAILURES and not any(clue.weight > 0 and is_found(clue, finding) for clue in cause.clues)


def _is_needed(cause: Cause, detection: Detection) -> bool:
    return any(clue.needed and is_found(clue, detection) for clue in cause.clues)


def _agrees(together: Diagnosis, case: Case, finding: Finding) -> bool:
    """Culprits of different nodes are one story only where they began together."""
    if isinstance(finding, Event) and finding.event == "job.incident":
        return any(one.subject == (finding.subject or "cluster") for one in case.detections.values())
    if together.cause.blames not in ("rank", "node", "gpu"):
        return True
    if isinstance(finding, Event):
        return finding.event not in OF_A_GPU or _same_gpu(case, finding)
    known = {node for one in case.detections.values() if one.detector == finding.detector for node in one.nodes}
    if not finding.nodes or not known or known & set(finding.nodes):
        return True
    return abs(finding.onset_time - case.onset_time) <= TOGETHER_SECONDS


def _same_gpu(case: Case, event: Event) -> bool:
    """Faults of different GPUs are different stories, unless they came together."""
    known = {one.subject for one in case.events if one.event in OF_A_GPU}
    known |= {gpu for one in case.detections.values() for gpu in one.gpus}
    return event.subject in known or not known or abs(event.time - case.onset_time) <= TOGETHER_SECONDS
