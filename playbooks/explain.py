"""An incident in words that a person reads in half a minute."""

import re
from collections.abc import Iterator

from playbooks.actions.timeline import utc
from schemas.incident import Evidence, Incident, RankedCause
from schemas.wording import count, some, step_words

FOR, AGAINST, OTHERS, BLIND = 3, 2, 3, 4
"""How many statements are read out of each kind: the heaviest."""
SLIGHT = 0.05
"""Share of belief under which a cause is not worth a word."""
LONGEST = 120
"""Letters of a statement that quotes a line of a log."""
SAME = "what speaks for this speaks against it"


def explain(incident: Incident, title: str = "", look_at: tuple[str, ...] = ()) -> list[str]:
    """Write the lines: what, since when, why we think so, why not the others, what is being done, where to look.

    Args:
        incident: in its present revision.
        title: of its cause, from the catalogue.
        look_at: likewise.
    """
    return [
        _what(incident, title),
        _since(incident),
        *_why(incident),
        *_why_not(incident),
        *_blind(incident),
        *_contaminated(incident),
        _done(incident),
        *([f"Look at: {'; '.join(look_at)}."] if look_at else []),
    ]


def _what(incident: Incident, title: str) -> str:
    what = incident.title or title or incident.cause
    known = "" if incident.cause == "unknown" else f", layer {incident.layer}, {incident.confidence:.0%} sure"
    return f"{what} ({incident.severity}, {incident.state}{known})."


def _since(incident: Incident) -> str:
    begin = _moment(incident.onset_step, incident.onset_time)
    end = "" if incident.end_time is None else f", until {_moment(_end_step(incident), incident.end_time)}"
    whose = f"Job {incident.job}, attempt {incident.attempt}" if incident.attempt else f"Cluster {incident.job}"
    lost = f"; {incident.gpu_hours_lost:.2g} GPU-hours lost" if incident.gpu_hours_lost else ""
    return f"{whose}: since {begin}{end}; {_who(incident)}{lost}."


def _end_step(incident: Incident) -> int | None:
    """The last step, unless a later attempt counts from further back: then a moment says more."""
    first, last = incident.onset_step, incident.end_step
    return last if first is None or last is None or last >= first else None


def _moment(step: int | None, time: float) -> str:
    return utc(time) if step is None else f"{step_words(step)}, {utc(time)}"


def _who(incident: Incident) -> str:
    if incident.gpus and len(incident.gpus) <= 2:
        return f"{', '.join(incident.gpus)} on {', '.join(incident.nodes) or 'an unnamed node'} is to blame"
    if incident.nodes:
        ranks = f" (ranks {', '.join(map(str, incident.ranks[:8]))})" if incident.ranks else ""
        return f"{', '.join(incident.nodes[:4])}{ranks} is to blame"
    names = [one.id for one in incident.suspects[:2] if one.kind == "mount"]
    if names:
        return f"{' and '.join(names)} is to blame"
    affected = f", {count(len(incident.affected.ranks), 'rank')} affected" if incident.affected.ranks else ""
    return f"nobody in particular is to blame{affected}"


def _why(incident: Incident) -> Iterator[str]:
    moved = [one for one in incident.evidence if one.weight and one.text and one.status != "hypothesis"]
    for name, side, most in (("Why", 1, FOR), ("Against it", -1, AGAINST)):
        told = _apart(sorted((one for one in moved if one.weight * side > 0), key=_heaviest))[:most]
        if told:
            yield f"{name}: " + "; ".join(f"{_short(one.text, incident)} ({one.weight:+.1f})" for one in told) + "."


def _apart(statements: list[Evidence]) -> list[Evidence]:
    """Leave out what says of a signal once more what was said of it already."""
    told: dict[str, Evidence] = {}
    for one in statements:
        told.setdefault(_subject(one.text), one)
    return list(told.values())


def _subject(text: str) -> str:
    """What a statement is about: its signal, whatever is taken over the ranks of it; else all of it.

    >>> _subject("loader_share_median 2.5 % → 39.7 %"), _subject("no slow rank on a whole node")
    ('loader_share', 'no slow rank on a whole node')
    """
    first = text.partition(" ")[0]
    return first.removesuffix("_median") if re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", first) else text


def _short(text: str, incident: Incident) -> str:
    """A statement without the step that was named above, and a quoted line only as far as it tells something."""
    if incident.onset_step is not None:
        text = text.replace(f" since {step_words(incident.onset_step)}", "")
    text = text.rstrip(".")
    if len(text) <= LONGEST or "_" in text.partition(" ")[0]:
        return text
    return f"{text[:LONGEST].rpartition(' ')[0].rstrip(',;:')} …"


def _why_not(incident: Incident) -> Iterator[str]:
    said = [one.text for one in incident.evidence if one.weight > 0]
    others = [one for one in incident.causes if one.cause not in (incident.cause, "unknown") and one.score >= SLIGHT]
    told = {one.cause: (f"{one.score:.0%}", _against(one)) for one in others[:OTHERS]}
    for out in incident.ruled_out[: max(0, OTHERS - len(told))]:
        told.setdefault(out.cause, ("", out.because.split("; ")))
    grouped: dict[str, list[str]] = {}
    for cause, (share, reasons) in told.items():
        new = [reason for reason in reasons if not any(reason in text for text in said)]
        reason = _short(new[0], incident) if new else SAME if reasons else ""
        grouped.setdefault(reason, []).append(f"{cause} ({share})" if share else cause)
    if grouped:
        yield "Why not: " + "; ".join(_reasoned(names, reason) for reason, names in grouped.items()) + "."


def _reasoned(causes: list[str], reason: str) -> str:
    return f"{', '.join(causes)}: {reason}" if reason else ", ".join(causes)


def _against(one: RankedCause) -> list[str]:
    return [moved.text for moved in sorted(one.moved, key=lambda moved: moved.weight) if moved.weight < 0]


def _blind(incident: Incident) -> Iterator[str]:
    if incident.blind:
        unseen = [one.removesuffix(" was not seen") for one in incident.blind if one.endswith(" was not seen")]
        others = [_short(one, incident) for one in incident.blind if not one.endswith(" was not seen")]
        yield "Not seen: " + "; ".join([*others, *([", ".join(unseen[:BLIND])] if unseen else [])]) + "."


def _contaminated(incident: Incident) -> Iterator[str]:
    """Only where something was trained on or written that somebody has to leave out."""
    taint = incident.taint
    if taint is None or not (taint.marked or taint.checkpoints or taint.shards):
        return
    parts = [f"steps {taint.from_step:,} to {taint.to_step:,}{' (in the ledger)' if taint.marked else ''}"]
    if taint.checkpoints:
        parts.append(f"checkpoints of step {some([f'{step:,}' for step in taint.checkpoints])}")
    if taint.from_sample is not None and taint.to_sample is not None:
        parts.append(f"samples {taint.from_sample:,} to {taint.to_sample:,}")
    if taint.shards:
        parts.append(f"shards {some(taint.shards, taint.shards_opened)}")
    yield f"Contaminated: {'; '.join(parts)}."


def _done(incident: Incident) -> str:
    grouped: dict[str, dict[str, None]] = {}
    for one in incident.actions:
        if one.decision != "refused" and one.action != "notify":
            stand = _stand(one.decision, one.outcome, one.verification)
            grouped.setdefault(stand, {})[f"{one.action} on {one.target}"] = None
    told = [f"{', '.join(actions)}: {stand}" for stand, actions in grouped.items()]
    return "Being done: " + ("; ".join(told) if told else "nothing on the job") + "."


def _stand(decision: str, outcome: str, verification: str) -> str:
    words = {"would_act": "would be done, observing only", "asked": "waits for approval", "act": "started"}
    return ", ".join(one for one in (words.get(decision, decision), outcome, verification) if one)


def _heaviest(one: Evidence) -> tuple[float, str]:
    return -abs(one.weight), one.text
