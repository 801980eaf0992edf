"""THE table of topics: what each stream carries, by which key, and how long it is kept."""

from typing import Literal

from msgspec import Struct

from schemas.action import Control, Request, Result, TaintRecord
from schemas.dead import DeadLetter
from schemas.detection import Detection, Vitals
from schemas.incident import Incident
from schemas.telemetry import Event, SampleFrame, StepFrame, Tick

Outbound = Detection | Vitals | Incident | Request | Result | Control | TaintRecord | DeadLetter
Record = StepFrame | SampleFrame | Event | Tick | Outbound


class Topic(Struct, frozen=True):
    """One stream.

    Attributes:
        name: without the configurable prefix.
        records: the record types it carries.
        key: what the message key is: `job` or `incident`; `""` where the stream stays inside one process.
        partitions: for Kafka; streams with the same key and the same count keep one job on one worker.
        retention_hours: how long records are kept; 0 keeps them for ever.
        compacted: True keeps the last record of each key.
        meaning: for a person.
    """

    name: str
    records: tuple[type, ...]
    key: Literal["job", "incident", ""]
    partitions: int
    retention_hours: int
    compacted: bool
    meaning: str


TOPICS = (
    Topic("telemetry", (StepFrame, SampleFrame, Event, Tick), "job", 8, 72, False, "what agents send"),
    Topic("events", (Event, Tick), "", 0, 0, False, "events that were neither repeated nor out of their attempt"),
    Topic("detections", (Detection,), "job", 8, 2160, False, "what the detectors found"),
    Topic("vitals", (Vitals,), "job", 8, 72, False, "the state of each job, step by step"),
    Topic("drafts", (Incident,), "", 0, 0, False, "incidents before the playbooks have seen them"),
    Topic("incidents", (Incident,), "incident", 8, 2160, False, "the feed: every revision of every incident"),
    Topic("incidents.latest", (Incident,), "incident", 8, 0, True, "the last revision of every incident"),
    Topic("requests", (Request,), "incident", 8, 2160, False, "actions that shall be run"),
    Topic("results", (Result,), "incident", 8, 2160, False, "how those runs ended"),
    Topic("control", (Control,), "job", 8, 0, True, "what each trainer shall do differently"),
    Topic("taints", (TaintRecord,), "job", 8, 0, False, "the ledger of contaminated steps"),
    Topic("dead", (DeadLetter,), "job", 8, 720, False, "records that could not be read, with the reason"),
)

BY_NAME = {topic.name: topic for topic in TOPICS}


def topic_named(name: str) -> Topic:
    """Find a topic in the table.

    Raises:
        KeyError: there is none of that name.
    """
    return BY_NAME[name]
