"""Sources that no longer speak, judged against the job's other sources.

An early word is given of a node whose peers have told of further steps without it, and of a job all of whose nodes are
silent while its scheduler calls it running: neither is so in a pause of the job. It is held before anybody is paged.
"""

import math
from collections.abc import Iterator

import numpy as np
from msgspec import structs

from detectors.base import Alarm, Floats, grow
from detectors.sawtooth import SawtoothMemory
from detectors.silence import KNOWN, Silence
from schemas.telemetry import Event, SampleFrame, Telemetry
from schemas.wording import amount
from streams.stages.detect import leap, node_words
from streams.stages.detect.episodes import Found, step_at
from streams.stages.detect.memory import Attempt, Voices

_SILENCE = Silence()
SIGNAL = "source_age_seconds"
MOMENT_SECONDS = 5.0
HELD, HELD_ALL = "held", "held_all"
"""Parts of what was told before a silence has lasted as long as any other has to: of one source, and of all at once."""
SOME, GONE = "some", "gone"
"""Parts of what has lasted: of some sources, and of one that was read beside its steps, which stop with the job."""
EARLY_SECONDS, EARLY_FACTOR = 20.0, 5.0
"""Least silence of an early word, in seconds and in usual intervals of the source."""
EARLY_STEPS = 10
"""Steps that the others have told of meanwhile."""
VOUCHED_SECONDS = 10.0
"""The scheduler may have called the job running so long before the last word that came of it."""


def heard(voices: Voices, frame: Telemetry, time: float) -> None:
    """Note that a source spoke, at a time of the stream's clock, as its own may be wrong; and whose state is read."""
    node = frame.node
    if isinstance(frame, SampleFrame) and node not in voices.read:
        voices.read.append(node)
    node_words.spoke(voices, node, frame.time)
    place = voices.places.get(node)
    if place is None:
        voices.places[node] = len(voices.names)
        voices.names.append(node)
        voices.latest.append(time)
    elif voices.latest[place] < time:
        voices.latest[place] = time


def told(attempt: Attempt, event: Event) -> None:
    """Note that the scheduler calls the job running, or what is said of the nodes of a cluster."""
    if event.event == "scheduler.status" and event.data.get("state") == "running":
        attempt.voices.vouched = max(attempt.voices.vouched, event.time)
    node_words.hear(attempt, event)


def resumed(voices: Voices, time: float) -> None:
    """Count from here: who spoke before could not be heard."""
    voices.latest = [max(latest, time) for latest in voices.latest]


def clock_with(voices: Voices, frame: Telemetry, clock: float) -> float:
    """Move the stream's clock on to a frame; where one source's clock has leapt, silence counts from there.

    Args:
        voices: of the job.
        frame: that has just come in.
        clock: the stream's, Unix seconds.
    """
    now, known, place = max(clock, frame.time), voices.leap, voices.places.get(frame.node)
    if leap.is_alone(known, frame.node, frame.time):
        resumed(voices, now)
    elif known is not None and frame.node != known.node:
        voices.latest[voices.places[known.node]] = known.before  # nothing came of that one either
    if len(voices.names) > 1 and place is not None:
        usual = _usual(voices.silence) if frame.time - clock > leap.LEAST_SECONDS else math.inf
        voices.leap = leap.noted(known, frame.node, frame.time, clock, voices.latest[place], usual)
    return now


def _usual(memory: SawtoothMemory | None) -> float:
    if memory is None or not (memory.teeth >= KNOWN).any():
        return math.inf
    return float(memory.typical[memory.teeth >= KNOWN].max())


def due(attempt: Attempt) -> float:
    """Give the time at which the sources have to be looked at: once per moment, and not in a leap of one's clock."""
    usual, leapt = (attempt.voices.checked + 1) * MOMENT_SECONDS, attempt.voices.leap
    return usual if leapt is None else max(usual, leapt.to + leap.PATIENCE_SECONDS)


def watch(attempt: Attempt, speaker: str, now: float) -> Iterator[tuple[Alarm, Found]]:
    """Look at the age of every source's last word, once per moment, before the next word is noted.

    Args:
        attempt: whose sources should speak.
        speaker: the source that is about to speak, "" for none: its age ends here and is learned from.
        now: the stream's clock, Unix seconds.
    """
    voices, moment = attempt.voices, int(now // MOMENT_SECONDS)
    if attempt.ended is not None or not voices.names or moment <= voices.checked:
        return
    voices.checked = moment
    if voices.silence is None:
        voices.silence = _SILENCE.blank(len(voices.names))
    elif voices.silence.width < len(voices.names):
        voices.silence = grow(_SILENCE, voices.silence, len(voices.names))
    ages = _ages(attempt, voices.silence, now)
    place = voices.places.get(speaker)
    yield from _early(attempt, voices.silence, ages, now, -1 if place is None else place)
    if place is not None:
        ages[place] = min(ages[place], float(_SILENCE.limits(voices.silence)[place]))
    for alarm in _SILENCE.update(voices.silence, moment, ages):
        if len(voices.names) == 1:
            continue  # silence is told by others that speak; a lone source that stops is a job that stops
        if alarm.series in voices.early:
            voices.early.remove(alarm.series)
        part = GONE if alarm.kind == SOME and voices.names[alarm.series] in voices.read else alarm.kind
        yield structs.replace(alarm, kind=""), _found(attempt, alarm, part, now)


def _ages(attempt: Attempt, memory: SawtoothMemory, now: float) -> Floats:
    """Give the age of every last word; none where a node need not speak, 0 where its silence was told before that."""
    voices = attempt.voices
    ages: Floats = np.maximum(0.0, now - np.array(voices.latest))
    for place, node in enumerate(voices.names) if voices.words else ():
        if node_words.is_away(attempt, node):
            ages[place] = 0.0 if memory.kind[place] or place in voices.early else np.nan
    return ages


def _early(
    attempt: Attempt, memory: SawtoothMemory, ages: Floats, now: float, speaker: int
) -> Iterator[tuple[Alarm, Found]]:
    """Tell of sources that certainly should have spoken, and of those that have spoken again."""
    voices = attempt.voices
    with np.errstate(invalid="ignore"):
        silent = (ages > np.maximum(EARLY_SECONDS, EARLY_FACTOR * memory.typical)) & (memory.teeth >= KNOWN)
    for place in [one for one in voices.early if one == speaker or not silent[one]]:
        voices.early.remove(place)
        alarm = _alarm(memory, ages, place, over=True)
        yield alarm, _found(attempt, alarm, HELD, now)
    together = len(ages) > 1 and bool(silent.all()) and voices.vouched >= max(voices.latest) - VOUCHED_SECONDS
    for place in np.flatnonzero(silent & (memory.kind == 0)).tolist():
        if place not in voices.early and place != speaker and (together or _is_left_out(attempt, place, now)):
            voices.early.append(place)
            alarm = _alarm(memory, ages, place, over=False)
            yield alarm, _found(attempt, alarm, HELD_ALL if together else HELD, now)


def _is_left_out(attempt: Attempt, place: int, now: float) -> bool:
    """Others have just told of a step that a node with ranks of its own is many steps away from."""
    seats = attempt.participants.seats.get(attempt.voices.names[place])
    goes_on = attempt.progress is not None and now - attempt.progress <= EARLY_SECONDS / 2
    return seats is not None and bool(seats.ranks) and goes_on and attempt.top_step - seats.step >= EARLY_STEPS


def _alarm(memory: SawtoothMemory, ages: Floats, place: int, over: bool) -> Alarm:
    usual = float(memory.typical[place])
    age, limit = float(ages[place]), max(EARLY_SECONDS, EARLY_FACTOR * usual)
    onset = int(memory.since[place])
    return Alarm(
        series=place,
        index=onset,
        onset=onset,
        before=usual,
        after=age,
        limit=limit,
        score=max(1.0, age / limit),
        direction=1,
        over=over,
    )


def _found(attempt: Attempt, alarm: Alarm, part: str, now: float) -> Found:
    voices = attempt.voices
    node, latest = voices.names[alarm.series], voices.latest[alarm.series]
    return Found(
        detector="silence",
        signal=SIGNAL,
        subject=f"node:{node}",
        stepped=False,
        time=now,
        onset_time=latest,
        again=_last_word(attempt, node),
        step=attempt.top_step if attempt.top_step >= 0 else None,
        onset_step=step_at(attempt.moments, latest),
        nodes=(node,),
        part=part,
        text=(
            f"nothing from {node} for {amount(SIGNAL, alarm.after)}, usually every {amount(SIGNAL, alarm.before)}"
            + ("; it is held before anybody is paged" if part in (HELD, HELD_ALL) else "")
        ),
    )


def _last_word(attempt: Attempt, node: str) -> str:
    """Name a silence after the last step that the node told of, or else that anybody has."""
    seats = attempt.participants.seats.get(node)
    step = seats.step if seats is not None else attempt.top_step
    return f"after step {step}" if step >= 0 else ""
