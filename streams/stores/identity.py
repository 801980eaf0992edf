"""What makes a record the same record, so that it is filed once however often it is said."""

from msgspec import Struct

from schemas.action import Control, Request, Result, TaintRecord
from schemas.dead import DeadLetter
from schemas.detection import Detection, Vitals
from schemas.incident import Incident
from schemas.topics import Outbound


class Identity(Struct, frozen=True):
    """What a record is filed under.

    Attributes:
        id: unique within its topic, together with the revision.
        revision: grows where a record is said again with more in it.
        job: the job it tells of, or "".
        incident: the incident it belongs to, or "".
    """

    id: str
    revision: int = 0
    job: str = ""
    incident: str = ""


def identify(record: Outbound) -> Identity:
    """Say what a record is filed under.

    >>> from schemas.action import Control
    >>> identify(Control(job="wm-64", attempt=1, version=3))
    Identity(id='wm-64', revision=3, job='wm-64', incident='')
    """
    if isinstance(record, Incident):
        return Identity(record.id, record.revision, record.job, record.id)
    if isinstance(record, Detection):
        return Identity(record.id, record.revision, record.job)
    if isinstance(record, Control):
        return Identity(record.job, record.version, record.job)
    if isinstance(record, Vitals):
        return Identity(f"{record.job}|{record.attempt}|{record.of}|{moment(record)!r}", 0, record.job)
    if isinstance(record, DeadLetter):
        return Identity(f"{record.source}|{record.offset}|{record.line}")
    return _of_action(record)


def moment(vitals: Vitals) -> float:
    """Give the place of vitals in their series: the step of a closed step, else the time of the sample."""
    if vitals.of == "step" and vitals.step is not None:
        return float(vitals.step)
    return vitals.time


def _of_action(record: Request | Result | TaintRecord) -> Identity:
    id_ = record.request if isinstance(record, Result) else record.id
    return Identity(id_, 0, record.job, record.incident)
