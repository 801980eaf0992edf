"""Findings, facts and incidents by hand, to be varied by tests."""

from typing import Any

from playbooks.facts import Facts, Track
from schemas.detection import Detection
from schemas.ids import derived_id
from schemas.incident import Incident
from schemas.signals import signal_named
from schemas.telemetry import Event

ONSET = 1_740_960_000.0
SEEN = ONSET + 60.0


def a_detection(signal: str, detector: str = "level_shift", **changed: Any) -> Detection:  # Any: any field
    """A finding of a detector, found one minute after it began."""
    fields: dict[str, Any] = {  # Any: any field of a detection
        "id": derived_id(signal, detector, *(str(value) for value in changed.values())),
        "job": "j",
        "attempt": 1,
        "detector": detector,
        "signal": signal,
        "layer": signal_named(signal).layer,
        "direction": "up",
        "onset_step": 100,
        "onset_time": ONSET,
        "step": 110,
        "time": SEEN,
        "before": 1.0,
        "after": 2.0,
        "text": f"{signal} moved",
    }
    return Detection(**{**fields, **changed})


def slow(rank: int, node: str = "n01", part: str = "compute", **changed: Any) -> Detection:  # Any: any field
    """A slow rank."""
    fields: dict[str, Any] = {  # Any: any field of a detection
        "subject": f"rank:{rank}",
        "ranks": (rank,),
        "nodes": (node,),
        "gpus": (f"GPU-{rank}",),
        "part": part,
        "text": f"rank {rank} works longer",
    }
    return a_detection("own_seconds", "slow_rank", **{**fields, **changed})


def an_event(event: str, **changed: Any) -> Event:  # Any: any field
    """Something that happened on a node."""
    fields: dict[str, Any] = {"job": "j", "attempt": 1, "node": "n01", "seq": 0, "time": ONSET, "event": event}
    return Event(**{**fields, **changed})


def a_track(*values: float, normal: float | None = None, first: float = ONSET) -> Track:
    """Values of a signal, ten seconds apart."""
    return Track(times=[first + 10.0 * n for n in range(len(values))], values=list(values), normal=normal)


def facts(*findings: Detection | Event, **changed: Any) -> Facts:  # Any: any field
    """What is known of two nodes of four ranks, with these findings."""
    detections = tuple(one for one in findings if isinstance(one, Detection))
    events = tuple(one for one in findings if isinstance(one, Event))
    fields: dict[str, Any] = {  # Any: any field of the facts
        "seed": findings[0] if findings else None,
        "detections": detections,
        "events": events,
        "onset_time": ONSET,
        "node_ranks": {"n01": 4, "n02": 4},
        "rank_nodes": {rank: f"n0{rank // 4 + 1}" for rank in range(8)},
        "rank_gpus": {rank: f"GPU-{rank}" for rank in range(8)},
    }
    return Facts(**{**fields, **changed})


def an_incident(**changed: Any) -> Incident:  # Any: any field
    """An open incident with a cause that is believed in."""
    fields: dict[str, Any] = {  # Any: any field of an incident
        "id": "i",
        "revision": 1,
        "job": "j",
        "attempt": 1,
        "state": "open",
        "severity": "error",
        "title": "the loader waits",
        "cause": "loader_starved_by_storage",
        "layer": "storage",
        "confidence": 0.9,
        "onset_step": 100,
        "onset_time": ONSET,
        "opened_time": SEEN,
        "updated_time": SEEN,
        "nodes": ("n01",),
    }
    return Incident(**{**fields, **changed})


MOUNT: dict[str, Any] = {"subject": "mount:/data", "nodes": ()}  # Any: fields of a detection
STORAGE = (
    a_detection("loader_share", text="loader_share 3 % → 25 %"),
    a_detection("storage_retries_total", text="retries rose", **MOUNT),
    a_detection("storage_latency_seconds", text="latency rose", **MOUNT),
    a_detection("loader_share_median"),
    a_detection("tokens_per_second", direction="down"),
    a_detection("step_seconds"),
)
CALM = {
    "sm_clock_mhz": a_track(1755.0, normal=1755.0),
    "compute_seconds": a_track(0.79, normal=0.79),
    "loader_share": a_track(0.03, normal=0.03),
    "storage_latency_seconds": a_track(0.004, normal=0.004),
    "storage_retries_per_second": a_track(0.0, normal=0.0),
    "cpu_util": a_track(0.4, normal=0.4),
}
