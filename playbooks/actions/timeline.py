"""The course of an incident, read off its revisions."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from msgspec import Struct

from schemas.action import ActionEntry
from schemas.incident import Incident


class Moment(Struct, frozen=True):
    """Something that changed; `time` is Unix seconds of the record that led to it."""

    time: float
    text: str


def timeline(revisions: Sequence[Incident]) -> list[Moment]:
    """Tell what each revision brought, oldest first; revisions that only add numbers are left out.

    Args:
        revisions: of one incident, oldest first, at least one.
    """
    first = revisions[0]
    where = "" if first.onset_step is None else f" at step {first.onset_step:,}"
    moments = [
        Moment(first.onset_time, f"began{where}"),
        Moment(first.opened_time, f"recognised as {first.cause} ({first.confidence:.0%}), severity {first.severity}"),
    ]
    moments += [Moment(first.updated_time, text) for text in _actions((), first.actions)]
    for before, after in pairwise(revisions):
        moments += [Moment(after.updated_time, text) for text in _changes(before, after)]
    return moments


def utc(time: float) -> str:
    """Write a moment for people.

    >>> utc(1740960000.0)
    '2025-03-03 00:00:00 UTC'
    """
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _changes(before: Incident, after: Incident) -> list[str]:
    texts = []
    if after.severity != before.severity:
        texts.append(f"severity {before.severity} → {after.severity}")
    if after.cause != before.cause:
        texts.append(f"cause {before.cause} → {after.cause} ({after.confidence:.0%})")
    if after.attempt != before.attempt:
        texts.append(f"went on in attempt {after.attempt}")
    if after.acknowledged_by and after.acknowledged_by != before.acknowledged_by:
        texts.append(f"taken by {after.acknowledged_by}")
    texts += _actions(before.actions, after.actions)
    if after.taint is not None and after.taint.marked and not (before.taint is not None and before.taint.marked):
        texts.append(f"steps {after.taint.from_step:,} to {after.taint.to_step:,} marked as contaminated")
    if after.state != before.state:
        texts.append(f"{before.state} → {after.state}, {after.gpu_hours_lost:.1f} GPU-hours lost so far")
    return texts


def _actions(before: Sequence[ActionEntry], after: Sequence[ActionEntry]) -> list[str]:
    known = {_identity(entry): entry for entry in before}
    texts = []
    for entry in after:
        old = known.get(_identity(entry))
        if old is None or old.decision != entry.decision:
            texts.append(f"{entry.action} on {entry.target}: {entry.decision} ({entry.reason}, {entry.playbook})")
        if entry.outcome and (old is None or old.outcome != entry.outcome):
            texts.append(f"{entry.action} on {entry.target}: {entry.outcome}{_detail(entry)}")
        if entry.verification and (old is None or old.verification != entry.verification):
            texts.append(f"{entry.action} on {entry.target}: verification {entry.verification}{_detail(entry)}")
    return texts


def _identity(entry: ActionEntry) -> tuple[str, ...]:
    return (entry.request,) if entry.request else (entry.playbook, entry.action, entry.target)


def _detail(entry: ActionEntry) -> str:
    return f" ({entry.detail})" if entry.detail else ""
