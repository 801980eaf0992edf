"""Records to file, each with what a test does not care about filled in."""

from typing import Any

from schemas.action import Outcome, Request, Result, TaintRecord
from schemas.dead import DeadLetter
from schemas.detection import Detection, Vitals
from schemas.incident import Incident
from schemas.topics import Outbound
from streams.stages.stage import Sent
from streams.stores.store import Archive

Fields = Any  # the fields of the record under test


def make_incident(id_: str = "inc-1", revision: int = 0, **fields: Fields) -> Incident:
    """Give an incident, with some fields changed."""
    standard: dict[str, Fields] = {
        "job": "wm-64",
        "attempt": 1,
        "state": "open",
        "severity": "error",
        "cause": "storage_retries",
        "layer": "storage",
        "confidence": 0.8,
        "onset_time": 1000.0,
        "opened_time": 1010.0,
        "updated_time": 1010.0 + revision,
    }
    return Incident(id=id_, revision=revision, **{**standard, **fields})


def make_detection(id_: str, revision: int = 0, **fields: Fields) -> Detection:
    """Give a detection."""
    return Detection(
        id=id_,
        revision=revision,
        job="wm-64",
        attempt=1,
        detector="level_shift",
        signal="loss",
        layer="loss",
        onset_time=1000.0,
        time=1001.0,
        **fields,
    )


def make_vitals(step: int, **fields: Fields) -> Vitals:
    """Give vitals of a step."""
    standard: dict[str, Fields] = {"job": "wm-64", "attempt": 1, "time": 1000.0 + step, "values": {"loss": 2.3}}
    return Vitals(step=step, **{**standard, **fields})


def make_request(id_: str, incident: str = "inc-1") -> Request:
    """Give a request that asks."""
    return Request(
        id=id_,
        incident=incident,
        job="wm-64",
        attempt=1,
        playbook="cache",
        action="loader.use_cache",
        target="wm-64",
        decision="asked",
        time=1020.0,
    )


def make_result(request: str, outcome: Outcome = "done") -> Result:
    """Give the end of a request."""
    return Result(
        request=request,
        incident="inc-1",
        job="wm-64",
        attempt=1,
        action="loader.use_cache",
        outcome=outcome,
        time=1030.0,
    )


def make_taint(id_: str, job: str = "wm-64") -> TaintRecord:
    """Give an entry of the ledger."""
    return TaintRecord(
        id=id_,
        job=job,
        attempt=1,
        from_step=1,
        to_step=9,
        reason="stall",
        incident="inc-1",
        confidence=0.8,
        layer="data",
        time=1.0,
    )


def make_dead(offset: int, line: int = 0) -> DeadLetter:
    """Give a record that could not be read."""
    return DeadLetter(
        reason="malformed",
        path="",
        detail="no JSON",
        source="telemetry-3",
        offset=offset,
        line=line,
        raw=b"\xff{",
        time=1.0,
    )


def put(archive: Archive, topic: str, *records: Outbound, upto: int = 0) -> None:
    """File records under a topic."""
    archive.put([Sent(topic, "key", record) for record in records], upto)
