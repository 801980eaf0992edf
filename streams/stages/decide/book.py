"""The book of one incident: which playbooks matched, what was decided, and the incident as the feed shows it."""

from collections.abc import Iterator

from msgspec import structs

from playbooks.decide import approved, decide, identity, request, undoing
from playbooks.guard import Past, Situation
from playbooks.match import matches, targets
from playbooks.playbook import Playbook
from playbooks.reasons import Reason
from schemas.action import ActionEntry, Request
from schemas.codec import encode
from schemas.incident import SEVERITIES, Incident, State
from streams.stages.decide import trials
from streams.stages.decide.memory import Book, DecideMemory, Entry

KEPT_PAST = 256
OVER = ("resolved", "closed")


def take(memory: DecideMemory, book: Book, draft: Incident) -> None:
    """Take a revision, and note when it names other nodes than the one before."""
    if draft.nodes != book.blamed:
        book.blamed, book.blamed_since = draft.nodes, memory.clock
    book.draft = draft


def consider(memory: DecideMemory, book: Book, playbooks: tuple[Playbook, ...]) -> Iterator[Request]:
    """Look at every playbook for this incident, and write down what follows."""
    for playbook in playbooks:
        for occasion in _occasions(book, playbook):
            if occasion != "opened" or matches(playbook, book.draft, memory.held, memory.step):
                yield from _enter(memory, book, playbook, occasion)
    if SEVERITIES.index(book.draft.severity) > _told_severity(book):
        book.severity = book.draft.severity


def approve(memory: DecideMemory, request_id: str, person: str, playbooks: tuple[Playbook, ...]) -> Iterator[Request]:
    """A person said yes to a request that was asked for; too late where the playbook is not for what has come of it.

    Nor does it do anything to the job once that has started again: what stood still an hour ago trains by now.
    """
    states = {playbook.playbook: playbook.when.states for playbook in playbooks}
    for book, entry in _asked(memory, request_id):
        assert entry.request is not None
        is_past = entry.request.target == memory.key and entry.request.attempt < memory.attempt
        if is_past or book.draft.state not in states.get(entry.shown.playbook, OVER):
            _turn_down(entry, Reason.OVER, person)
            continue
        entry.request = approved(entry.request, situation(memory, None), memory.step)
        entry.shown = structs.replace(
            entry.shown,
            decision="act",
            reason=Reason.APPROVED,
            request=entry.request.id,
            outcome="pending",
            verification="waiting" if entry.trial else "",
            detail=f"by {person}",
        )
        if entry.trial is not None:
            entry.trial.asked = memory.clock
        yield entry.request


def reject(memory: DecideMemory, request_id: str, person: str) -> None:
    """A person said no to a request that was asked for."""
    for _, entry in _asked(memory, request_id):
        _turn_down(entry, Reason.REJECTED, person)


def _asked(memory: DecideMemory, request_id: str) -> list[tuple[Book, Entry]]:
    return [
        (book, entry)
        for book in memory.books.values()
        for entry in book.entries.values()
        if entry.request is not None and entry.request.id == request_id and entry.shown.decision == "asked"
    ]


def _turn_down(entry: Entry, reason: Reason, person: str) -> None:
    entry.shown = structs.replace(entry.shown, outcome="rejected", reason=reason, detail=f"by {person}")
    entry.request = entry.trial = None


def settle_trials(memory: DecideMemory, book: Book, playbooks: tuple[Playbook, ...]) -> Iterator[Request]:
    """End the trials that have come to a verdict; what did not help is taken back where the playbook says so."""
    by_name = {playbook.playbook: playbook for playbook in playbooks}
    for entry in list(book.entries.values()):
        if entry.trial is None or entry.shown.decision != "act":
            continue
        finding = trials.judged(memory, entry)
        playbook = by_name.get(entry.shown.playbook)
        if finding.verdict == "failed" and playbook is not None and playbook.on_failure and entry.request is not None:
            undo = undoing(entry.request, playbook.on_failure, situation(memory, None), memory.step)
            shown = structs.replace(
                entry.shown,
                action=undo.action,
                request=undo.id,
                time=memory.clock,
                verification="",
                outcome="pending",
                detail="",
            )
            book.entries[f"{playbook.playbook}|{entry.shown.target}|undo"] = Entry(shown=shown, request=undo)
            yield undo


def show(book: Book, now: float) -> Incident | None:
    """Write the incident for the feed, None where nothing has changed since the last revision."""
    actions = tuple(entry.shown for entry in book.entries.values())
    marked = any(one.action == "taint.mark" and one.outcome == "done" for one in actions)
    taint = structs.replace(book.draft.taint, marked=marked) if book.draft.taint is not None else None
    incident = structs.replace(
        book.draft, revision=0, state=_state(book), actions=actions, taint=taint, updated_time=0.0
    )
    lasting = encode(incident)
    if lasting == book.told:
        return None
    book.told = lasting
    book.revision += 1
    return structs.replace(incident, revision=book.revision, updated_time=now)


def situation(memory: DecideMemory, book: Book | None, playbook: Playbook | None = None) -> Situation:
    """What the guard looks at."""
    verify = playbook.verify if playbook is not None else None
    return Situation(
        now=memory.clock,
        data_age=max(0.0, memory.clock - memory.step_time) if memory.step_time else 0.0,
        has_baseline=verify is None or (book is not None and book.normal.get(verify.signal, 0.0) > 0),
        past=_past(memory),
        steady=memory.clock - book.blamed_since if book is not None else 0.0,
    )


def _enter(memory: DecideMemory, book: Book, playbook: Playbook, occasion: str) -> Iterator[Request]:
    whom = targets(playbook, book.draft)
    at = situation(memory, book, playbook)
    for target in whom or ("",):
        place = "|".join((playbook.playbook, target, *identity(occasion, book.draft)))
        known = book.entries.get(place)
        if known is not None and known.shown.decision != "refused":
            continue
        decision = decide(playbook, book.draft, target, len(whom), at)
        if known is not None and decision.verdict == "refused":
            continue
        wanted = request(playbook, book.draft, target, decision.verdict, occasion, at, memory.step)
        trial = trials.begin(memory, book, playbook) if wanted is not None else None
        shown = ActionEntry(
            playbook=playbook.playbook,
            action=playbook.action,
            target=target,
            time=memory.clock,
            step=memory.step,
            mode=playbook.mode,
            decision=decision.verdict,
            reason=decision.reason,
            outcome="pending" if decision.verdict == "act" else "",
            verification="waiting" if trial is not None and decision.verdict == "act" else "",
            request=wanted.id if wanted is not None else "",
        )
        book.entries[place] = Entry(shown=shown, request=wanted, trial=trial)
        if wanted is not None:
            proof = playbook.verify.signal if playbook.verify is not None else ""
            memory.past = [*memory.past[1 - KEPT_PAST :], Past(playbook.playbook, target, memory.clock, proof)]
            yield wanted


def _occasions(book: Book, playbook: Playbook) -> list[str]:
    """When a playbook has something to do: at first, and on the occasions it names once it had."""
    had = any(entry.shown.playbook == playbook.playbook for entry in book.entries.values())
    occasions = [] if had and book.draft.state in OVER else ["opened"]
    worse = bool(book.severity) and SEVERITIES.index(book.draft.severity) > _told_severity(book)
    if had and worse and "changed" in playbook.again:
        occasions.append("changed")
    if had and book.draft.state in OVER and "resolved" in playbook.again:
        occasions.append("resolved")
    return occasions


def _told_severity(book: Book) -> int:
    return next((place for place, name in enumerate(SEVERITIES) if name == book.severity), -1)


def _state(book: Book) -> State:
    """An incident that something is being done about is acting until there is a verdict on it."""
    busy = any(
        entry.shown.decision == "act" and (entry.shown.outcome == "pending" or entry.trial is not None)
        for entry in book.entries.values()
        if entry.shown.action not in ("notify", "webhook", "postmortem.open", "taint.mark")
    )
    return "acting" if busy and book.draft.state not in OVER else book.draft.state


def _past(memory: DecideMemory) -> tuple[Past, ...]:
    """The ledger, with what is still under trial marked as such."""
    running = {
        (entry.shown.playbook, entry.shown.target) for entry in _entries(memory) if entry.trial and entry.shown.outcome
    }
    return tuple(structs.replace(one, settled=(one.playbook, one.target) not in running) for one in memory.past)


def _entries(memory: DecideMemory) -> list[Entry]:
    return [entry for book in memory.books.values() for entry in book.entries.values()]
