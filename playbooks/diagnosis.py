"""From evidence to ranked causes, in the open: every clue says how far it moved the belief in its cause."""

import math
from collections import Counter
from typing import Any

from msgspec import Struct

from playbooks.cause import UNKNOWN, Cause, Clue, covers
from playbooks.clues import Answer, ask, is_event, is_found
from playbooks.facts import Facts
from schemas.detection import Detection
from schemas.incident import Evidence, Moved, RankedCause, RuledOut, Suspect
from schemas.telemetry import Event, as_count

TEMPERATURE = 1.3
"""Weights are divided by this before they become shares: clues are not independent of each other."""
WEAK = 0.7
"""A move seen in the job's values, but not yet raised by a detector, counts for so much of the weight."""
ENOUGH = 1.0
"""Nats that a cause needs before it is named."""
FIRST = 0.3
"""Nats for a cause whose own evidence began first, and against one whose evidence began later than the rest."""
AT_ONCE_SECONDS = 15.0
"""What began so close to the first began with it."""


class Weighed(Struct, frozen=True):
    """One cause with all its answers."""

    cause: Cause
    weight: float
    candidate: bool
    answers: tuple[tuple[Clue, Answer, float], ...]
    order: Moved | None = None

    def moved(self) -> tuple[Moved, ...]:
        """What moved the belief, the heaviest first."""
        told = [Moved(text=answer.text, weight=round(weight, 3)) for _, answer, weight in self.answers if weight]
        told += [self.order] if self.order is not None else []
        return tuple(sorted(told, key=lambda one: (-abs(one.weight), one.text)))


class Diagnosis(Struct, frozen=True):
    """The verdict.

    Attributes:
        ranked: every candidate with its share of belief, the leading one first.
        suspects: who may be the culprit, with their share of the blaming findings, the most blamed first.
    """

    cause: Cause
    confidence: float
    ranked: tuple[RankedCause, ...]
    evidence: tuple[Evidence, ...]
    ruled_out: tuple[RuledOut, ...]
    suspects: tuple[Suspect, ...]


def diagnose(facts: Facts, causes: tuple[Cause, ...]) -> Diagnosis:
    """Rank the causes for what was found.

    Args:
        facts: the findings, and the state of the job around them.
        causes: the catalogue; `unknown` has to be in it.
    """
    weighed = [weigh(cause, facts) for cause in causes if _is_worth_asking(cause, facts)]
    unknown = next(one for one in weighed if one.cause.cause == UNKNOWN)
    candidates = sorted(
        (one for one in weighed if one.candidate and one.weight >= ENOUGH),
        key=lambda one: (-one.weight, one.cause.cause),
    )
    leading = candidates[0] if candidates else unknown
    ranked = _shares([one for one in weighed if one.candidate and one.weight > 0], leading.cause.cause)
    confidence = next((one.score for one in ranked if one.cause == leading.cause.cause), 0.0)
    return Diagnosis(
        cause=leading.cause,
        confidence=confidence,
        ranked=ranked,
        evidence=_evidence(leading, facts, confidence),
        ruled_out=_ruled_out(weighed, leading, facts),
        suspects=_suspects(leading, facts),
    )


def _is_worth_asking(cause: Cause, facts: Facts) -> bool:
    """A cause that explains nothing that was found can neither lead nor be ruled out."""
    return cause.considered or cause.cause == UNKNOWN or facts.seed is None or _explains_any(cause, facts)


def weigh(cause: Cause, facts: Facts) -> Weighed:
    """Ask every clue of a cause and add up what the answers weigh."""
    answers = []
    weight = cause.prior
    candidate = facts.seed is None or explains(cause, facts.seed)
    for clue in cause.clues:
        answer = ask(clue, facts)
        moved = clue.weight if answer.holds else clue.otherwise if answer.holds is False else 0.0
        if not answer.sure:
            moved *= WEAK
        candidate &= not clue.needed or answer.holds is True
        weight += moved
        answers.append((clue, answer, moved))
    order = _order(answers, facts)
    weight += order.weight if order is not None else 0.0
    return Weighed(cause, weight, candidate, tuple(answers), order)


def _order(answers: list[tuple[Clue, Answer, float]], facts: Facts) -> Moved | None:
    """A cause comes before what it does: compare when its own evidence began with when anything began."""
    own = [_onset(one) for _, answer, weight in answers if weight > 0 for one in answer.sources]
    everything = [*map(_onset, facts.detections), *map(_onset, facts.events)]
    if not own or max(everything) - min(everything) <= AT_ONCE_SECONDS:
        return None
    late = min(own) - min(everything)
    if late <= AT_ONCE_SECONDS:
        return Moved(text="what speaks for it began first", weight=FIRST)
    return Moved(text=f"what speaks for it began {late:.0f} s after the first sign", weight=-FIRST)


def _onset(source: Detection | Event) -> float:
    return source.onset_time if isinstance(source, Detection) else source.time


def explains(cause: Cause, finding: Detection | Event) -> bool:
    """Tell whether a finding is what a cause would bring with it."""
    if isinstance(finding, Event):
        named = covers(cause.teardown, finding.event)
        return named or any(clue.weight > 0 and is_event(clue, finding) for clue in cause.clues)
    if covers(cause.cascade, finding.signal):
        return True
    return any(clue.weight > 0 and is_found(clue, finding) for clue in cause.clues)


def opens(causes: tuple[Cause, ...], finding: Detection | Event) -> bool:
    """Tell whether a finding is reason enough for an incident."""
    for cause in causes:
        for clue in cause.clues:
            if clue.opens and (is_event(clue, finding) if isinstance(finding, Event) else is_found(clue, finding)):
                return True
    return False


def _shares(candidates: list[Weighed], leading: str) -> tuple[RankedCause, ...]:
    """Turn weights into shares of belief; `unknown` always holds the share of a cause with no evidence at all."""
    most = max([0.0, *(one.weight for one in candidates)])
    sizes = [math.exp((one.weight - most) / TEMPERATURE) for one in candidates]
    nothing = math.exp(-most / TEMPERATURE)
    total = sum(sizes) + nothing
    ranked = [
        RankedCause(
            cause=one.cause.cause,
            score=round(size / total, 4),
            weight=round(one.weight, 3),
            prior=one.cause.prior,
            moved=one.moved(),
        )
        for one, size in zip(candidates, sizes, strict=True)
    ]
    ranked.append(RankedCause(cause=UNKNOWN, score=round(nothing / total, 4)))
    return tuple(sorted(ranked, key=lambda one: (one.cause != leading, -one.score, one.cause)))


def _evidence(leading: Weighed, facts: Facts, confidence: float) -> tuple[Evidence, ...]:
    told = [
        Evidence(
            status="hypothesis" if leading.cause.cause != UNKNOWN else "unknown",
            text=f"{leading.cause.title} ({confidence:.0%})",
            layer=leading.cause.layer,
            weight=round(leading.weight, 3),
        )
    ]
    sources: set[str] = set()
    for clue, answer, weight in leading.answers:
        if answer.holds is not None and weight == 0.0:
            continue
        told.append(_statement(clue, answer, weight))
        sources |= {one.id for one in answer.sources if isinstance(one, Detection)}
    return (*told, *_cascade([one for one in facts.detections if one.id not in sources]))


def _cascade(detections: list[Detection]) -> list[Evidence]:
    """What moved along, one statement for each signal and subject."""
    by_kind: dict[tuple[str, str, str], list[Detection]] = {}
    for one in detections:
        by_kind.setdefault((one.detector, one.signal, one.subject), []).append(one)
    return [
        Evidence(
            status="established",
            text=alike[0].text + (f" (and {len(alike) - 1} more)" if len(alike) > 1 else ""),
            layer=alike[0].layer,
            source=alike[0].id,
            role="cascade",
            **_figures(alike[0]),
        )
        for alike in by_kind.values()
    ]


def _statement(clue: Clue, answer: Answer, weight: float) -> Evidence:
    first = next((one for one in answer.sources if isinstance(one, Detection)), None)
    return Evidence(
        status="unknown" if answer.holds is None else "established" if answer.sure else "supported",
        text=answer.text,
        layer=answer.layer,
        speaks_for=weight >= 0 if answer.holds is not None else clue.weight > 0,
        weight=round(weight, 3),
        source=first.id if first is not None else "",
        role="initiating" if answer.holds and clue.weight > 0 else "unplaced",
        **(_figures(first) if first is not None else {}),
    )


def _figures(one: Detection) -> dict[str, Any]:  # Any: fields of the evidence
    """What a finding was made of, so that a claim can be held against it."""
    names = ("detector", "subject", "before", "after", "limit", "numbers", "version", "parameters")
    return {name: getattr(one, name) for name in names}


def _ruled_out(weighed: list[Weighed], leading: Weighed, facts: Facts) -> tuple[RuledOut, ...]:
    """Causes that would have explained a finding, or are always asked for, with the numbers against them."""
    told = []
    for one in weighed:
        if one.cause is leading.cause or (one.candidate and one.weight >= ENOUGH):
            continue
        explained = _explains_any(one.cause, facts)
        against = sorted(
            ((weight, answer.text) for _, answer, weight in one.answers if weight < 0), key=lambda pair: pair[0]
        )
        if against and (explained or one.cause.considered):
            told.append(RuledOut(cause=one.cause.cause, because="; ".join(text for _, text in against[:3])))
    return tuple(told)


def _explains_any(cause: Cause, facts: Facts) -> bool:
    return any(explains(cause, one) for one in facts.detections) or any(explains(cause, one) for one in facts.events)


def _suspects(leading: Weighed, facts: Facts) -> tuple[Suspect, ...]:
    """Count how often the blaming findings name each entity of the kind that this cause blames."""
    tally: Counter[tuple[str, str]] = Counter()
    for clue, answer, _ in leading.answers:
        if clue.blames and answer.holds:
            for source in answer.sources:
                tally.update(_culprits(leading.cause.blames, source, facts))
    ranked = sorted(tally.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Suspect(kind=kind, id=name, score=round(n / tally.total(), 3)) for (kind, name), n in ranked)


def _culprits(kind: str, source: Detection | Event, facts: Facts) -> list[tuple[str, str]]:
    """Whom a finding blames, as kind and name; a node stands in for a GPU or a rank that is not named."""
    if isinstance(source, Detection):
        return [(kind, name) for name in _named(kind, source, facts)]
    if kind in ("gpu", "mount") and source.subject:
        return [(kind, source.subject)]
    rank = as_count(source.data.get("rank")) if kind == "rank" else None
    if rank is not None and rank in facts.rank_nodes:
        return [("rank", str(rank))]
    gpu = facts.rank_gpus.get(_speaker(source)) if kind == "gpu" else None
    if gpu:
        return [("gpu", gpu)]
    node = place_of(source)
    runs_ranks = not facts.rank_nodes or node in facts.rank_nodes.values()
    return [("node", node)] if kind in ("rank", "gpu", "node") and runs_ranks else []


def _speaker(event: Event) -> int:
    """The rank that wrote a line, -1 where it does not say."""
    rank = as_count(event.data.get("rank")) if event.event == "log.line" else None
    return -1 if rank is None else rank


def place_of(event: Event) -> str:
    """The node on which something happened: a job tells its cluster where it was, a scheduler whose worker it took."""
    if event.event == "job.fault":
        return str(event.data.get("node") or event.node)
    return event.subject if event.event == "worker.evicted" and event.subject else event.node


def _named(kind: str, source: Detection, facts: Facts) -> list[str]:
    if kind == "rank":
        return [str(rank) for rank in source.ranks]
    if kind == "gpu":
        return list(source.gpus) or [facts.rank_gpus[rank] for rank in source.ranks if facts.rank_gpus.get(rank)]
    if kind == "node":
        return list(source.nodes)
    subject_kind, _, name = source.subject.partition(":")
    return [name] if subject_kind == kind else []
