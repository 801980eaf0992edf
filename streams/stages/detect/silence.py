"""Sources that no longer speak, judged against the job's other sources."""

from collections.abc import Iterator

import numpy as np

from detectors.base import Alarm, grow
from detectors.silence import Silence
from schemas.wording import amount
from streams.stages.detect.episodes import Found, step_at
from streams.stages.detect.memory import Attempt, Voices

_SILENCE = Silence()
SIGNAL = "source_age_seconds"
MOMENT_SECONDS = 5.0


def heard(voices: Voices, node: str, time: float) -> None:
    """Note that a source spoke, at a time of the stream's clock: its own may be wrong."""
    place = voices.places.get(node)
    if place is None:
        voices.places[node] = len(voices.names)
        voices.names.append(node)
        voices.latest.append(time)
    elif voices.latest[place] < time:
        voices.latest[place] = time


def resumed(voices: Voices, time: float) -> None:
    """Count from here: who spoke before could not be heard."""
    voices.latest = [max(latest, time) for latest in voices.latest]


def due(attempt: Attempt) -> float:
    """Give the time at which the sources have to be looked at: once per moment."""
    return (attempt.voices.checked + 1) * MOMENT_SECONDS


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
    ages = np.maximum(0.0, now - np.array(voices.latest))
    place = voices.places.get(speaker)
    if place is not None:
        ages[place] = min(ages[place], float(_SILENCE.limits(voices.silence)[place]))
    for alarm in _SILENCE.update(voices.silence, moment, ages):
        if len(voices.names) == 1:
            continue  # silence is told by others that speak; a lone source that stops is a job that stops
        node = voices.names[alarm.series]
        yield (
            alarm,
            Found(
                detector="silence",
                signal=SIGNAL,
                subject=f"node:{node}",
                stepped=False,
                time=now,
                onset_time=voices.latest[alarm.series],
                again=f"after step {attempt.top_step}" if attempt.top_step >= 0 else "",
                step=attempt.top_step if attempt.top_step >= 0 else None,
                onset_step=step_at(attempt.moments, voices.latest[alarm.series]),
                nodes=(node,),
                text=(
                    f"nothing from {node} for {amount(SIGNAL, alarm.after)}, "
                    f"usually every {amount(SIGNAL, alarm.before)}"
                ),
            ),
        )
