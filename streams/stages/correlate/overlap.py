"""Two incidents at once: what a later one adds is its own, and says nothing of the earlier one.

While a job that is slow already is hit by something else, its signals tell of both. The earlier incident is judged by
where they stood when the later one began, and keeps the numbers that its findings had then.
"""

import statistics
from collections.abc import Sequence

from msgspec import structs

from playbooks.facts import Track, level_name
from schemas.detection import Detection
from schemas.signals import signal_named
from schemas.telemetry import Event
from streams.stages.correlate.memory import LIVE, Case, CorrelateMemory, Superseded

FEWEST = 8
"""So many values between two onsets tell where a signal stood after the first."""
UNDECIDED_SECONDS = 60.0
"""So long it may take until a revision turns out to tell of another incident."""


def begin(memory: CorrelateMemory, case: Case) -> None:
    """Hold a new incident against those that go on: of two, the one with the later onset overtakes the other."""
    for other in list(memory.cases.values()):
        if other is not case and other.state in LIVE:
            earlier, later = (other, case) if other.onset_time < case.onset_time else (case, other)
            _overtake(memory, earlier, later)


def release(memory: CorrelateMemory) -> None:
    """What an incident was overtaken by is over: from then on the signals tell of it again."""
    for case in memory.cases.values():
        later = memory.cases.get(case.overtaken_by)
        if case.overtaken_by and case.state in LIVE and (later is None or later.state not in LIVE):
            case.overtaken_by, case.stood = "", {}
            if later is not None and later.end_time is not None:
                case.anew_time = later.end_time


def in_turn(memory: CorrelateMemory, findings: Sequence[Detection | Event]) -> list[Case]:
    """The cases that findings may join, in the order in which they are asked: the oldest, but for those overtaken."""
    cases = sorted(memory.cases.values(), key=lambda one: (one.onset_time, one.id))
    return sorted(cases, key=lambda case: all(_is_of_the_later(memory, case, one) for one in findings))


def _is_of_the_later(memory: CorrelateMemory, case: Case, finding: Detection | Event) -> bool:
    later = memory.cases.get(case.overtaken_by)
    if later is None or not isinstance(finding, Detection):
        return False
    return finding.onset_time >= later.onset_time and not _is_back(case, finding)


def _is_back(case: Case, finding: Detection) -> bool:
    """A signal that stands where it stood before the later incident tells that this one goes on."""
    stood, row = case.stood.get(level_name(finding.signal)), signal_named(finding.signal)
    return finding.after is not None and stood is not None and abs(finding.after - stood) <= row.worth * abs(stood)


def revise(memory: CorrelateMemory, case: Case, detection: Detection) -> None:
    """Take a new revision of a member; its numbers only where they tell of this incident."""
    known = case.detections[detection.id]
    if case.overtaken_by:
        detection = _with_numbers_of(known, detection)
    elif detection.after != known.after:
        _put_by(memory, case, known)
    case.detections[detection.id] = detection


def _put_by(memory: CorrelateMemory, case: Case, known: Detection) -> None:
    earlier = case.superseded.get(known.id)
    if earlier is None or memory.clock - earlier.time > UNDECIDED_SECONDS:
        case.superseded[known.id] = Superseded(detection=known, time=memory.clock)


def _overtake(memory: CorrelateMemory, earlier: Case, later: Case) -> None:
    if earlier.overtaken_by or not later.moves_pace or earlier.onset_time >= later.onset_time:
        return
    stood = {
        name: statistics.median(values)
        for name, track in memory.tracks.items()
        if len(values := _between(track, earlier.onset_time, later.onset_time)) >= FEWEST
    }
    if not stood:
        return
    earlier.overtaken_by, earlier.stood = later.id, stood
    _give_back(memory, earlier, later)
    for name, known in earlier.superseded.items():
        if name in earlier.detections and known.time >= later.onset_time:
            earlier.detections[name] = _with_numbers_of(known.detection, earlier.detections[name])


def _give_back(memory: CorrelateMemory, earlier: Case, later: Case) -> None:
    """What began with the later incident or after it looks for its place once more."""
    for one in list(earlier.detections.values()):
        if one.onset_time >= later.onset_time and one.id != earlier.seed:
            del earlier.detections[one.id]
            memory.waiting[one.id] = one


def _between(track: Track, since: float, until: float) -> list[float]:
    return [value for time, value in zip(track.times, track.values, strict=True) if since <= time < until]


def _with_numbers_of(known: Detection, latest: Detection) -> Detection:
    """A revision that says what an earlier one said, and only whether it is over as the latest does."""
    return structs.replace(known, revision=latest.revision, end_step=latest.end_step, end_time=latest.end_time)
