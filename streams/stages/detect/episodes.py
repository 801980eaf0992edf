"""Alarms become detections: raised with a derived id, revised under the same id, and ended."""

import math
from collections.abc import Callable, Iterator

from msgspec import Struct, field, structs

from detectors.base import Alarm
from schemas.detection import Detection, Direction
from schemas.ids import derived_id
from schemas.signals import signal_named
from schemas.telemetry import Reading
from schemas.wording import change, step_words
from streams.stages.detect.memory import Attempt, Moments

_DIRECTIONS: dict[int, Direction] = {1: "up", -1: "down", 0: "none"}
KEPT_MOMENTS = 600


class Found(Struct, kw_only=True):
    """What an alarm is about: everything that the detector, which knows only columns, cannot say.

    Attributes:
        stepped: True where rows are steps, False where they are moments.
        time: Unix seconds at which it was found.
        onset_time: Unix seconds of the onset row.
        text: a sentence of its own; "" for the usual one.
        again: what tells it from an earlier one of its kind; "" for its onset.
    """

    detector: str
    signal: str
    subject: str = "job"
    stepped: bool = True
    time: float
    onset_time: float
    step: int | None = None
    onset_step: int | None = None
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    part: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    text: str = ""
    again: str = ""


def follow(job: str, cluster: str, attempt: Attempt, alarm: Alarm, found: Found) -> Iterator[Detection]:
    """Turn an alarm into the detection that it raises, revises or ends; an end of nothing says nothing."""
    place = f"{found.detector}|{found.signal}|{found.subject}|{alarm.kind}"
    active = attempt.active.get(place)
    if alarm.over:
        if active is not None:
            del attempt.active[place]
            yield ended(active, *_last(attempt, alarm, found))
        return
    detection = _raised(job, cluster, attempt, alarm, found) if active is None else _revised(active, alarm, found)
    attempt.active[place] = detection
    yield detection


def end_all(
    attempt: Attempt, step: int | None, time: float, chosen: Callable[[Detection], bool] = lambda _: True
) -> Iterator[Detection]:
    """End every detection that is still active, or those that are chosen."""
    for place, detection in list(attempt.active.items()):
        if chosen(detection):
            del attempt.active[place]
            yield ended(detection, step, time)


def held_against_normal(detection: Detection) -> bool:
    """Tell whether a detection means nothing any more once something else is normal."""
    return detection.detector in ("level_shift", "creep") or (
        detection.detector == "sustained" and detection.subject == "job"
    )


def is_of_the_job(detection: Detection) -> bool:
    """Tell whether a detection holds the job's own pace against what was normal."""
    return held_against_normal(detection) and detection.subject == "job"


def ended(detection: Detection, step: int | None, time: float) -> Detection:
    """The last revision of a detection."""
    last = step if detection.onset_step is not None else None
    return structs.replace(detection, revision=detection.revision + 1, end_step=last, end_time=time)


def note_moment(moments: Moments, step: int, time: float) -> None:
    """Remember when a step ended, so that an onset can be dated."""
    moments.steps.append(step)
    moments.times.append(time)
    if len(moments.steps) > KEPT_MOMENTS:
        del moments.steps[0], moments.times[0]


def time_of(moments: Moments, step: int, otherwise: float) -> float:
    """Unix seconds at which a step ended; of the next one known after it."""
    for known, time in zip(reversed(moments.steps), reversed(moments.times), strict=True):
        if known < step:
            break
        otherwise = time
    return otherwise


def step_at(moments: Moments, time: float) -> int | None:
    """The step that was running at a moment: the first known that ended then or later, else the last known."""
    for step, ended in zip(moments.steps, moments.times, strict=True):
        if ended >= time:
            return step
    return moments.steps[-1] if moments.steps else None


def _last(attempt: Attempt, alarm: Alarm, found: Found) -> tuple[int | None, float]:
    """The last step and moment concerned: an end is found some rows later than it was."""
    if not found.stepped:
        return found.step, found.time
    return alarm.index, time_of(attempt.moments, alarm.index, found.time)


def _raised(job: str, cluster: str, attempt: Attempt, alarm: Alarm, found: Found) -> Detection:
    onset = found.again or (found.onset_step if found.stepped else round(found.onset_time, 3))
    run = (attempt.runs,) if attempt.runs else ()
    return Detection(
        id=derived_id(job, attempt.number, found.detector, found.signal, found.subject, alarm.kind, onset, *run),
        job=job,
        attempt=attempt.number,
        cluster=cluster,
        detector=found.detector,
        signal=found.signal,
        layer=signal_named(found.signal).layer,
        subject=found.subject,
        direction=_DIRECTIONS[alarm.direction],
        onset_step=found.onset_step,
        onset_time=found.onset_time,
        step=found.step,
        time=found.time,
        before=_reading(alarm.before),
        after=_reading(alarm.after),
        limit=_reading(alarm.limit),
        score=alarm.score,
        ranks=found.ranks,
        nodes=found.nodes,
        gpus=found.gpus,
        part=found.part or alarm.kind,
        numbers=_known({**alarm.numbers, **found.numbers}),
        text=found.text or _sentence(alarm, found),
    )


def _revised(active: Detection, alarm: Alarm, found: Found) -> Detection:
    return structs.replace(
        active,
        revision=active.revision + 1,
        after=_reading(alarm.after),
        score=max(active.score, alarm.score),
        part=found.part or active.part,
        numbers=_known({**active.numbers, **alarm.numbers, **found.numbers}),
        text=found.text or _sentence(alarm, found),
    )


def _sentence(alarm: Alarm, found: Found) -> str:
    where = "" if found.subject == "job" else f" of {found.subject}"
    since = f" since {step_words(found.onset_step)}" if found.onset_step is not None else ""
    return f"{found.signal}{where} {change(found.signal, _reading(alarm.before), _reading(alarm.after))}{since}"


def _known(numbers: dict[str, float]) -> dict[str, float]:
    """A number that is not known is left out: JSON has no word for it outside of readings."""
    return {name: value for name, value in numbers.items() if math.isfinite(value)}


def _reading(value: float) -> Reading:
    """A detector's NaN means that it has no such number."""
    return None if value != value else value
