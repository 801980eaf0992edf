"""A run that has begun anew under the number of the attempt that is known: what was trained before comes again.

Whoever starts a job once more should give the start the next number. A log that goes on in the same file has the old
one, and so has a name that is used for the next run as well: its steps would be late until they have passed the last.
"""

from schemas.telemetry import Event, StepFrame, Telemetry
from streams.stages.detect.memory import Attempt, Moments
from streams.stages.detect.open_steps import Rewound

STEPS = 3
"""So many old steps in order, while none is new, are a run of its own."""
TOLD_STEPS = 2
"""Where the start was told once more."""
PAUSE_SECONDS = 5.0
"""A start takes longer than a step and this: what follows at once counts something else, batches of an evaluation."""
NODE = "line"


def begun_anew(attempt: Attempt | None, record: Telemetry) -> Event | None:
    """Give the start of the run that a record shows to have begun: as it was told, or in our own words."""
    if attempt is None or attempt.alignment.closed == 0 or record.attempt != attempt.number:
        return None
    if isinstance(record, Event):
        if record.event == "attempt.started":
            attempt.rewound.start = record
        return None
    if not isinstance(record, StepFrame) or record.step > attempt.alignment.last_closed or not _trains(record):
        return None
    seen = _count(attempt, record)
    if seen.start is not None and seen.steps >= TOLD_STEPS and seen.start.time > attempt.alignment.last_time:
        return seen.start
    if seen.steps >= STEPS and seen.begun > attempt.alignment.last_time + _interval(attempt.moments) + PAUSE_SECONDS:
        return _untold(attempt, record)
    return None


def is_own_word(start: Event) -> bool:
    """Tell whether nobody has told of a start but the line itself."""
    return start.node == NODE


def _count(attempt: Attempt, frame: StepFrame) -> Rewound:
    seen = attempt.rewound
    if seen.closed != attempt.alignment.closed:
        seen.closed, seen.step, seen.steps, seen.begun = attempt.alignment.closed, frame.step, 1, frame.time
        seen.moved = False
    elif frame.step > seen.step:
        seen.step, seen.steps = frame.step, seen.steps + 1
    here = attempt.participants
    at = [here.index.get(rank) for rank in frame.ranks]
    seen.moved |= any(place is None or here.nodes[place] != frame.node for place in at)
    return seen


def _trains(frame: StepFrame) -> bool:
    """Checkpoints may be validated step by step, beside the run that saved them or after it."""
    return bool(frame.values) or any(name != "valid_loss" for name in frame.job_values)


def _interval(moments: Moments) -> float:
    if len(moments.times) < 2:
        return 0.0
    return (moments.times[-1] - moments.times[0]) / (len(moments.times) - 1)


def _untold(attempt: Attempt, frame: StepFrame) -> Event:
    return Event(
        job=frame.job,
        attempt=attempt.number,
        cluster=frame.cluster,
        node=NODE,
        seq=attempt.runs,
        time=attempt.rewound.begun,
        event="attempt.started",
        data={"reason": "steps go back", "world_size": attempt.world_size, "placement": _placement(attempt)},
    )


def _placement(attempt: Attempt) -> list[dict[str, int | str]]:
    """Where the ranks are: where they were, unless some have come from elsewhere since."""
    here = attempt.participants
    rows = zip(here.ranks, here.nodes, here.gpus, here.groups, strict=True)
    return [] if attempt.rewound.moved else [{"rank": r, "node": n, "gpu": g, "pp": p} for r, n, g, p in rows]
