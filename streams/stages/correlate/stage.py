"""The correlate stage itself: which record goes where, and what is said in which order."""

from collections.abc import Iterable, Iterator

from playbooks.cause import Cause
from playbooks.diagnosis import explains, opens
from schemas.codec import encode
from schemas.detection import Detection, Vitals
from schemas.events import MOVES_THE_CLOCK
from schemas.ids import derived_id
from schemas.incident import Basis
from schemas.telemetry import Event, Tick, as_count
from schemas.topics import Record
from streams.stages.correlate import cost, fleet, life, overlap, taint, tracks
from streams.stages.correlate.draft import draft
from streams.stages.correlate.grouping import is_flood, is_one_of_many, look_soon, settle
from streams.stages.correlate.late_word import late_word, person
from streams.stages.correlate.memory import LIVE, THINK_AGAIN, Case, CorrelateMemory, Placement
from streams.stages.stage import Sent

KEPT_PLACEMENTS = 4


class Correlate:
    """From detections and events of one job to incidents.

    Args:
        causes: the catalogue.
        hold: seconds a finding waits for others before it opens an incident.
        detectors: id of what made the findings, for the record.
    """

    name = "correlate"
    memory = CorrelateMemory

    def __init__(self, causes: tuple[Cause, ...], hold: float = 10.0, detectors: str = "") -> None:
        if not hold >= 0:
            raise ValueError(f"hold: seconds, 0 or more, not {hold}")
        self.causes = causes
        self.hold = hold
        catalogue = derived_id(*(encode(cause).decode() for cause in causes))
        self.basis = Basis(topic="telemetry", key="", until=0.0, catalogue=catalogue, detectors=detectors)

    def blank(self, key: str) -> CorrelateMemory:
        """Make the memory of a job that has not been seen yet."""
        return CorrelateMemory(key=key)

    def feed(self, memory: CorrelateMemory, record: Record) -> Iterable[Sent]:
        """Take one detection, one set of vitals, or one event."""
        if isinstance(record, Detection):
            self._take_detection(memory, record)
            if is_one_of_many(record):
                return
        elif isinstance(record, Vitals):
            _take_vitals(memory, record)
        elif isinstance(record, Event):
            yield from late_word(memory, record, self.causes)
            self._take_event(memory, record)
        elif isinstance(record, Tick):
            memory.clock = max(memory.clock, record.time)
        yield from self._tell(memory, everything=False)

    def flush(self, memory: CorrelateMemory) -> Iterable[Sent]:
        """Nothing more will come: nothing is waited for, and what goes on is told with its last numbers."""
        for case in memory.cases.values():
            if case.state in LIVE:
                case.told = b""
        yield from self._tell(memory, everything=True)

    def is_over(self, memory: CorrelateMemory) -> bool:
        """An incident that is open needs its past."""
        return not any(case.state in LIVE for case in memory.cases.values())

    def _tell(self, memory: CorrelateMemory, everything: bool) -> Iterator[Sent]:
        if (memory.waiting or memory.waiting_events) and (everything or memory.clock >= memory.settle_at):
            settle(memory, self.causes, self.hold, everything)
        life.live(memory, self.causes)
        for case in sorted(memory.cases.values(), key=lambda one: (one.onset_time, one.id)):
            if case.unread >= THINK_AGAIN or everything:
                case.unread = 0
                incident = draft(memory, case, self.causes, 0.0 if everything else self.hold, self.basis)
                if incident is not None:
                    yield Sent("drafts", memory.key, incident)
                    yield from fleet.report(memory, case, incident)

    def _take_event(self, memory: CorrelateMemory, event: Event) -> None:
        memory.cluster = event.cluster
        moved = event.event.startswith(MOVES_THE_CLOCK)
        memory.clock = max(memory.clock, event.time) if moved else memory.clock
        match event.event:
            case "attempt.started":
                _start(memory, event)
            case "attempt.ended":
                _end(memory, event)
            case "checkpoint.end":
                taint.saved(memory, event)
            case "data.shards":
                taint.opened(memory, event)
            case "fleet.linked" | "fleet.known" | "cluster.found":
                fleet.hear(memory, event)
            case "incident.acknowledged" | "incident.closed":
                _by_person(memory, event)
        is_sign = opens(self.causes, event) or any(explains(cause, event) for cause in self.causes)
        if is_sign and not is_flood(memory, self.causes, event) and not fleet.is_told_by_job(memory, event):
            memory.waiting_events.append(event)
            look_soon(memory, event, self.hold)

    def _take_detection(self, memory: CorrelateMemory, detection: Detection) -> None:
        memory.clock = max(memory.clock, detection.time, detection.end_time or 0.0)
        for case in memory.cases.values():
            if detection.id in case.detections:
                overlap.revise(memory, case, detection)
                case.unread = THINK_AGAIN
                return
        memory.waiting[detection.id] = detection
        look_soon(memory, detection, self.hold)


def _take_vitals(memory: CorrelateMemory, vitals: Vitals) -> None:
    if vitals.of == "step" and vitals.step is not None:
        steps = max(1, vitals.step - memory.step) if memory.step is not None else 1
        cost.accrue(memory, vitals, memory.step_time, steps)
        life.step_closed(memory)
    tracks.take(memory, vitals)
    for case in memory.cases.values():
        case.unread += case.state in LIVE


def _start(memory: CorrelateMemory, event: Event) -> None:
    """Another attempt: other places, and steps that may start again further back."""
    memory.attempt, memory.ended, memory.failed = event.attempt, False, False
    memory.step = memory.step_time = None
    taint.restarted(memory)
    for case in memory.cases.values():
        case.outlived = event.time if case.outlived is None else case.outlived
    here = Placement(begun=event.time)
    memory.placements = dict([*memory.placements.items(), (event.attempt, here)][-KEPT_PLACEMENTS:])
    placement = event.data.get("placement")
    for place in placement if isinstance(placement, list) else []:
        rank = as_count(place.get("rank")) if isinstance(place, dict) else None
        if rank is not None:
            here.nodes[rank] = str(place.get("node", ""))
            here.gpus[rank] = str(place.get("gpu", ""))


def _end(memory: CorrelateMemory, event: Event) -> None:
    memory.ended = True
    memory.failed = event.data.get("reason") not in ("finished", "stopped", "time_limit", "requeued")
    for case in memory.cases.values():
        case.dead |= memory.failed


def _by_person(memory: CorrelateMemory, event: Event) -> None:
    case = memory.cases.get(event.subject)
    if case is None:
        return
    case.unread = THINK_AGAIN
    if event.event == "incident.acknowledged":
        case.acknowledged_by = person(event)
        return
    _close(memory, case, event)


def _close(memory: CorrelateMemory, case: Case, event: Event) -> None:
    case.state, case.acknowledged_by = "closed", case.acknowledged_by or person(event)
    case.legitimate = bool(event.data.get("legitimate"))
    case.named_cause = str(event.data.get("cause") or "")
    case.end_time = case.end_time if case.end_time is not None else memory.clock
    case.end_step = case.end_step if case.end_step is not None else memory.step
