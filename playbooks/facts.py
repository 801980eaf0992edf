"""What a diagnosis may look at: the findings of one incident, and the state of the job around it."""

import statistics

from msgspec import Struct, field

from schemas.detection import Detection
from schemas.signals import signal_named
from schemas.telemetry import Event

FEWEST_BEFORE = 3
"""So many values before an onset tell how it was then."""
MOST_BEFORE = 40
"""Of more, the last tell."""


class Track(Struct):
    """The last values of one signal of the job, oldest first, and its healthy level."""

    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    normal: float | None = None


class Facts(Struct, kw_only=True):
    """Everything that is known when the question is asked.

    Attributes:
        seed: what the incident was opened for; every candidate has to explain it.
        detections: of this incident, oldest onset first.
        events: of this incident.
        tracks: signal -> its last values; counters under the name of their rate.
        onset_time: Unix seconds of the earliest onset.
        normals: healthy levels frozen when the incident was opened; they go before those of the tracks.
        before: levels before the onset, of the signals that were seen then; frozen likewise.
        stood: levels of this incident, frozen when a later one began: since then the signals tell of both.
        anew_time: Unix seconds since when values tell of this incident again.
        end_time: Unix seconds after which values no longer tell of the incident; infinite while it lasts.
        node_ranks: node -> number of ranks on it.
        rank_nodes: rank -> node.
        rank_gpus: rank -> GPU.
    """

    seed: Detection | Event | None = None
    detections: tuple[Detection, ...] = ()
    events: tuple[Event, ...] = ()
    tracks: dict[str, Track] = field(default_factory=dict)
    normals: dict[str, float] = field(default_factory=dict)
    before: dict[str, float] = field(default_factory=dict)
    stood: dict[str, float] = field(default_factory=dict)
    anew_time: float = 0.0
    onset_time: float = 0.0
    end_time: float = float("inf")
    node_ranks: dict[str, int] = field(default_factory=dict)
    rank_nodes: dict[int, str] = field(default_factory=dict)
    rank_gpus: dict[int, str] = field(default_factory=dict)


def level_name(signal: str) -> str:
    """The name under which a signal's level is tracked: a counter's is its rate.

    >>> level_name("storage_retries_total"), level_name("loader_share")
    ('storage_retries_per_second', 'loader_share')
    """
    if signal_named(signal).kind == "counter":
        return f"{signal.removesuffix('_total')}_per_second"
    return signal


def present_level(facts: Facts, signal: str) -> float | None:
    """The median of a signal's values since the onset, or where it stood when another incident began.

    Where no value is so young it is the last one.
    """
    if level_name(signal) in facts.stood:
        return facts.stood[level_name(signal)]
    track = facts.tracks.get(level_name(signal))
    if track is None or not track.values:
        return None
    begin = max(facts.onset_time, facts.anew_time)
    since = [v for t, v in zip(track.times, track.values, strict=True) if begin <= t <= facts.end_time]
    return statistics.median(since) if since else track.values[-1]


def is_seen_since(facts: Facts, signal: str) -> bool:
    """Tell whether a signal had a value since the onset."""
    track = facts.tracks.get(level_name(signal))
    return track is not None and bool(track.times) and max(track.times) >= facts.onset_time


def normal_level(facts: Facts, signal: str) -> float | None:
    """The healthy level of a signal, None before one was learned."""
    name = level_name(signal)
    if name in facts.normals:
        return facts.normals[name]
    track = facts.tracks.get(name)
    return None if track is None else track.normal


def frozen_normals(tracks: dict[str, Track], onset_time: float) -> dict[str, float]:
    """Freeze what is normal at an onset: the learned levels, and for signals without one the values before it."""
    normals: dict[str, float] = {}
    for name, track in tracks.items():
        before = [value for time, value in zip(track.times, track.values, strict=True) if time < onset_time]
        if track.normal is not None:
            normals[name] = track.normal
        elif before:
            normals[name] = statistics.median(before)
    return normals


def levels_before(tracks: dict[str, Track], onset_time: float) -> dict[str, float]:
    """Freeze where signals stood before an onset: the medians of their last values, where there were some."""
    levels: dict[str, float] = {}
    for name, track in tracks.items():
        before = [value for time, value in zip(track.times, track.values, strict=True) if time < onset_time]
        if len(before) >= FEWEST_BEFORE:
            levels[name] = statistics.median(before[-MOST_BEFORE:])
    return levels


def moved_by(facts: Facts, signal: str) -> tuple[float, float, int] | None:
    """Hold the present level against the healthy one.

    Returns:
        Healthy level, present level, and +1, -1 or 0 for a move that is worth an alarm; None where either is unknown.
    """
    normal, present = normal_level(facts, signal), present_level(facts, signal)
    if normal is None or present is None:
        return None
    row = signal_named(signal)
    floor = row.floor / 10.0 if row.kind == "counter" else row.floor
    limit = max(row.worth * abs(normal), floor)
    if abs(present - normal) <= limit:
        return normal, present, 0
    return normal, present, 1 if present > normal else -1
