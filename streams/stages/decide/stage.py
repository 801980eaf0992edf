"""The decide stage itself: which record goes where, and what is said in which order."""

from collections.abc import Iterable, Iterator

from msgspec import structs

from playbooks.playbook import Playbook
from schemas.action import Outcome, Request
from schemas.detection import Vitals
from schemas.incident import Incident
from schemas.telemetry import Event, Tick, is_finite
from schemas.topics import Record
from streams.stages.decide import trials
from streams.stages.decide.book import approve, consider, reject, settle_trials, show, take
from streams.stages.decide.limits import count, limits_on_signals
from streams.stages.decide.memory import Book, DecideMemory
from streams.stages.stage import Sent

KEPT_SECONDS = 86400.0
KEPT_SAVES = 64
_OUTCOMES: dict[str, Outcome] = {"action.done": "done", "action.failed": "failed", "action.refused": "refused"}


class Decide:
    """From incidents to requests, and from the job's answer to a verdict on them.

    Args:
        playbooks: the policies, in the order in which they are considered.
    """

    name = "decide"
    memory = DecideMemory

    def __init__(self, playbooks: tuple[Playbook, ...]) -> None:
        self.playbooks = playbooks
        self.limits = limits_on_signals(playbooks)

    def blank(self, key: str) -> DecideMemory:
        """Make the memory of a job that has not been seen yet."""
        return DecideMemory(key=key)

    def feed(self, memory: DecideMemory, record: Record) -> Iterable[Sent]:
        """Take one draft of an incident, one set of vitals, or one event."""
        if isinstance(record, Incident):
            yield from self._draft(memory, record)
        elif isinstance(record, Vitals):
            yield from self._vitals(memory, record)
        elif isinstance(record, Event):
            yield from self._event(memory, record)
        elif isinstance(record, Tick):
            memory.clock = max(memory.clock, record.time)
            yield from self._review(memory)

    def flush(self, memory: DecideMemory) -> Iterable[Sent]:
        """Nothing waits here for late records, and nothing will change any more; look once more at what is open."""
        for book in memory.books.values():
            book.blamed_since = float("-inf")
        yield from self._review(memory)

    def is_over(self, memory: DecideMemory) -> bool:
        """An action under trial needs its past."""
        return not any(entry.trial is not None for book in memory.books.values() for entry in book.entries.values())

    def _draft(self, memory: DecideMemory, incident: Incident) -> Iterator[Sent]:
        if incident.revision:  # a late word on an incident that was told long ago: there is nothing to decide
            memory.books.pop(incident.id, None)
            yield Sent("incidents", incident.id, incident)
            return
        memory.clock = max(memory.clock, incident.updated_time)
        book = memory.books.get(incident.id)
        if book is None:
            book = memory.books[incident.id] = Book(draft=incident, normal=dict(memory.normal))
        take(memory, book, incident)
        yield from self._settle(memory, book)
        _forget(memory)

    def _vitals(self, memory: DecideMemory, vitals: Vitals) -> Iterator[Sent]:
        memory.clock = max(memory.clock, vitals.clock, vitals.time)
        memory.attempt = max(memory.attempt, vitals.attempt)
        known = {**memory.normal, **vitals.normal}
        memory.normal = {name: level for name, level in known.items() if level is not None}
        if vitals.of != "step":
            return
        memory.step, memory.step_time = vitals.step, vitals.time
        pause = vitals.values.get("checkpoint_seconds")
        if vitals.step is not None and is_finite(pause) and pause and vitals.step not in memory.saves:
            memory.saves = [*memory.saves[1 - KEPT_SAVES :], vitals.step - 1]
        count(memory, self.limits, vitals)
        trials.step_closed(memory, vitals)
        yield from self._review(memory)

    def _event(self, memory: DecideMemory, event: Event) -> Iterator[Sent]:
        outcome = _OUTCOMES.get(event.event)
        if event.event == "attempt.started":
            memory.attempt = max(memory.attempt, event.attempt)
        elif event.event == "control.acknowledged":
            trials.acknowledged(memory, event)
        elif event.event in ("request.approved", "request.rejected"):
            yield from self._answer(memory, event)
        elif outcome is not None:
            for book in _note_outcome(memory, event, outcome):
                yield from self._settle(memory, book)
        else:
            return
        yield from self._review(memory)

    def _answer(self, memory: DecideMemory, event: Event) -> Iterator[Sent]:
        person = str(event.data.get("by") or "somebody")
        if event.event == "request.rejected":
            reject(memory, event.subject, person)
            return
        for request in approve(memory, event.subject, person, self.playbooks):
            yield Sent("requests", request.incident, request)

    def _review(self, memory: DecideMemory) -> Iterator[Sent]:
        """Look at every incident that is still being worked on."""
        for book in memory.books.values():
            ended = book.draft.state in ("resolved", "closed")
            if not ended or any(entry.trial or entry.shown.outcome == "pending" for entry in book.entries.values()):
                yield from self._settle(memory, book)

    def _settle(self, memory: DecideMemory, book: Book) -> Iterator[Sent]:
        requests: list[Request] = list(settle_trials(memory, book, self.playbooks))
        requests += consider(memory, book, self.playbooks)
        incident = show(book, memory.clock)
        if incident is not None:
            yield Sent("incidents", incident.id, incident)
        for request in requests:
            yield Sent("requests", request.incident, request)


def _note_outcome(memory: DecideMemory, event: Event, outcome: Outcome) -> list[Book]:
    """Take the runner's word on how a request ended; give the incidents it concerns."""
    request_id = event.data.get("id") or event.subject
    concerned = []
    for book in memory.books.values():
        for entry in book.entries.values():
            if entry.request is not None and entry.request.id == request_id:
                over = outcome != "done"
                concerned.append(book)
                entry.shown = structs.replace(
                    entry.shown,
                    outcome=outcome,
                    detail=str(event.data.get("detail") or event.data.get("error") or ""),
                    verification="" if over else entry.shown.verification,
                )
                entry.trial = None if over else entry.trial
    return concerned


def _forget(memory: DecideMemory) -> None:
    for book in list(memory.books.values()):
        end = book.draft.end_time
        if book.draft.state in ("resolved", "closed") and end is not None and memory.clock - end > KEPT_SECONDS:
            del memory.books[book.draft.id]
