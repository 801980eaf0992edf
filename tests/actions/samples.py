"""The incident of the brief and a request on it, to be varied by tests."""

from typing import Any

from schemas.action import ActionEntry, Request
from schemas.detection import Detection
from schemas.incident import Affected, Evidence, Incident, RankedCause, RuledOut, Suspect, Taint

ONSET = 1_740_960_000.0


def an_incident(**changed: Any) -> Incident:  # Any: any field of an incident
    """The 64-GPU job that slows from step 18,000 on, as it stands after some minutes."""
    fields: dict[str, Any] = {  # Any: any field of an incident
        "id": "50409911ed6b7da0",
        "revision": 2,
        "job": "wm-64",
        "attempt": 1,
        "state": "open",
        "severity": "error",
        "title": "data input stalls since step 18,046",
        "cause": "loader_starved_by_storage",
        "layer": "storage",
        "confidence": 0.82,
        "onset_step": 18046,
        "onset_time": ONSET,
        "opened_time": ONSET + 60.0,
        "updated_time": ONSET + 120.0,
        "suspects": (Suspect(kind="mount", id="/data", score=0.9),),
        "affected": Affected(ranks=tuple(range(64)), nodes=tuple(f"n{n:02}" for n in range(8)), jobs=("wm-64",)),
        "causes": (
            RankedCause(cause="loader_starved_by_storage", score=0.82),
            RankedCause(cause="host_cpu", score=0.09),
        ),
        "evidence": (
            Evidence(status="supported", text="loss 2.31 → 2.34 (+1 %)", layer="loss", speaks_for=False),
            Evidence(status="supported", text="loader share 3 % → 25 %", layer="data", source="d-loader"),
            Evidence(status="established", text="storage retries 0.2 → 58", layer="system", source="d-retries"),
            Evidence(status="hypothesis", text="tokens/s 1.02M → 690k", layer="throughput", source="d-tokens"),
        ),
        "ruled_out": (RuledOut(cause="kernel_regression", because="compute time 0.92 s → 0.92 s"),),
        "blind": ("no NCCL readings",),
        "gpu_hours_lost": 12.44,
        "taint": Taint(from_step=18046, to_step=18600, checkpoints=(18300, 18600)),
        "detections": ("d-retries", "d-loader", "d-tokens"),
    }
    return Incident(**{**fields, **changed})


def a_request(action: str = "loader.use_cache", **changed: Any) -> Request:  # Any: any field of a request
    """A request on that incident, decided one minute after it was recognised."""
    fields: dict[str, Any] = {  # Any: any field of a request
        "id": f"r-{action}",
        "incident": "50409911ed6b7da0",
        "job": "wm-64",
        "attempt": 1,
        "playbook": "loader-to-nvme-cache",
        "action": action,
        "target": "wm-64",
        "decision": "act",
        "time": ONSET + 100.0,
        "step": 18290,
        "summary": "read from the cache instead",
    }
    return Request(**{**fields, **changed})


def an_entry(**changed: Any) -> ActionEntry:  # Any: any field of an entry
    """What the playbook of the cache came to."""
    fields: dict[str, Any] = {  # Any: any field of an entry
        "playbook": "loader-to-nvme-cache",
        "action": "loader.use_cache",
        "target": "wm-64",
        "time": ONSET + 290.0,
        "step": 18290,
        "mode": "act",
        "decision": "act",
        "reason": "act",
        "request": "r-loader.use_cache",
    }
    return ActionEntry(**{**fields, **changed})


def a_detection(**changed: Any) -> Detection:  # Any: any field of a detection
    """The rise in storage retries that came first."""
    fields: dict[str, Any] = {  # Any: any field of a detection
        "id": "d-retries",
        "job": "wm-64",
        "attempt": 1,
        "detector": "level_shift",
        "signal": "storage_retries_total",
        "layer": "system",
        "direction": "up",
        "onset_step": 18046,
        "onset_time": ONSET,
        "step": 18052,
        "time": ONSET + 8.0,
        "before": 0.2,
        "after": 57.8,
        "limit": 1.0,
    }
    return Detection(**{**fields, **changed})
