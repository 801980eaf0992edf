"""An incident in a few short lines, the same for every sink."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from playbooks.sinks.notice import Notice
from playbooks.sinks.phrases import LANGUAGES, Phrases
from schemas.action import ActionEntry
from schemas.incident import Incident, Status
from schemas.wording import step_words

NAMED = 3
"""Nodes and ranks that are named; the rest is a number."""
MOST_EVIDENCE = 3
MOST_ACTIONS = 5
MOST_CHARACTERS = 300
_CERTAINTY: dict[Status, int] = {"established": 0, "supported": 1, "hypothesis": 2, "unknown": 3}


class Message(Struct, frozen=True):
    """What a person reads.

    Attributes:
        headline: severity, job and what happened, one line.
        lines: whom it concerns, since when, what changed, the cause, what was done, what it cost.
        link: address of the incident's page, or "".
        link_words: what stands on the link.
    """

    headline: str
    lines: tuple[str, ...]
    link: str
    link_words: str


def message(notice: Notice) -> Message:
    """Put an incident into lines of at most 300 characters each."""
    incident, words = notice.incident, LANGUAGES[notice.locale]
    tag = words.kind[notice.kind].format(severity=words.severity[incident.severity])
    lines = (
        _where(incident, words),
        _when(incident, words),
        *(f"• {text}" for text in what_changed(incident)),
        _cause(incident, words),
        *(_action(entry, words) for entry in incident.actions[-MOST_ACTIONS:]),
        *_cost(notice, words),
    )
    headline = cut(f"[{tag}] {incident.job}: {incident.title or incident.cause}")
    return Message(headline, tuple(cut(line) for line in lines), notice.link, words.page)


def what_changed(incident: Incident) -> list[str]:
    """Give the surest statements for the cause; each holds its numbers."""
    speaking = [entry for entry in incident.evidence if entry.speaks_for]
    speaking.sort(key=lambda entry: (_CERTAINTY[entry.status], -entry.weight))
    return [entry.text for entry in speaking[:MOST_EVIDENCE]]


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    r"""Make one line of a text, of so many characters at most.

    >>> cut("two  words\nand more", 12)
    'two words a…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def named(names: Sequence[str], words: Phrases) -> str:
    """Name the first three, count the rest.

    >>> from playbooks.sinks.phrases import ENGLISH
    >>> named(["n01", "n02", "n03", "n04", "n05"], ENGLISH)
    'n01, n02, n03 and 2 more'
    """
    first = ", ".join(names[:NAMED])
    return first if len(names) <= NAMED else words.more.format(names=first, count=len(names) - NAMED)


def _where(incident: Incident, words: Phrases) -> str:
    whom = []
    if incident.nodes:
        whom.append(words.node.format(names=named(incident.nodes, words)))
    if incident.ranks:
        whom.append(words.rank.format(names=named([str(rank) for rank in incident.ranks], words)))
    if not whom:
        affected = incident.affected
        whom.append(words.nobody.format(ranks=len(affected.ranks), nodes=len(affected.nodes)))
    state = words.state[incident.state]
    return words.where.format(job=incident.job, attempt=incident.attempt, state=state, whom=", ".join(whom))


def _when(incident: Incident, words: Phrases) -> str:
    since = words.since.format(step=step_words(incident.onset_step), time=_utc(incident.onset_time))
    if incident.end_time is None:
        return since
    return words.until.format(since=since, step=step_words(incident.end_step), time=_utc(incident.end_time))


def _cause(incident: Incident, words: Phrases) -> str:
    line = words.cause.format(cause=incident.cause, confidence=f"{incident.confidence:.0%}")
    others = [cause for cause in incident.causes if cause.cause != incident.cause]
    if not others:
        return line
    return line + words.next_cause.format(cause=others[0].cause, score=f"{others[0].score:.0%}")


def _action(entry: ActionEntry, words: Phrases) -> str:
    state = words.outcome[entry.outcome] if entry.outcome else words.decision[entry.decision]
    if entry.verification:
        state += f", {words.verification[entry.verification]}"
    if entry.decision == "refused":
        state += f" ({entry.reason})"
    return words.action.format(action=entry.action, target=entry.target, state=state)


def _cost(notice: Notice, words: Phrases) -> list[str]:
    incident = notice.incident
    lost = words.lost_in_all if notice.kind == "resolved" else words.lost
    lines = [lost.format(hours=f"{incident.gpu_hours_lost:.1f}")]
    if incident.taint is not None:
        lines.append(
            words.taint.format(begin=f"{incident.taint.from_step:,}", end=f"{incident.taint.to_step:,}"),
        )
    return lines


def _utc(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
