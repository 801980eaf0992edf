"""An incident in words that a person reads in half a minute."""

from collections.abc import Iterator

from playbooks.actions.timeline import utc
from schemas.incident import Evidence, Incident, RankedCause
from schemas.wording import count, step_words

FOR, AGAINST, OTHERS, BLIND = 4, 2, 3, 3
"""How many statements are read out of each kind: the heaviest."""


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
        _done(incident),
        *([f"Look at: {'; '.join(look_at)}."] if look_at else []),
    ]


def _what(incident: Incident, title: str) -> str:
    what = incident.title or title or incident.cause
    sure = "nothing seen explains it" if incident.cause == "unknown" else f"{incident.confidence:.0%} sure"
    return f"{what} ({incident.severity}, {incident.state}, layer {incident.layer}, {sure})."


def _since(incident: Incident) -> str:
    end = "" if incident.end_time is None else f", until {step_words(incident.end_step)}, {utc(incident.end_time)}"
    lost = f"{incident.gpu_hours_lost:.2g} GPU-hours lost" if incident.gpu_hours_lost else "no GPU time lost so far"
    return (
        f"Job {incident.job}, attempt {incident.attempt}: since {step_words(incident.onset_step)}, "
        f"{utc(incident.onset_time)}{end}; {_who(incident)}; {lost}."
    )


def _who(incident: Incident) -> str:
    if incident.gpus and len(incident.gpus) <= 2:
        return f"{', '.join(incident.gpus)} on {', '.join(incident.nodes) or 'an unnamed node'} is to blame"
    if incident.nodes:
        ranks = f" (ranks {', '.join(map(str, incident.ranks[:8]))})" if incident.ranks else ""
        return f"{', '.join(incident.nodes[:4])}{ranks} is to blame"
    names = [one.id for one in incident.suspects[:2] if one.kind == "mount"]
    if names:
        return f"{' and '.join(names)} is to blame"
    return f"nobody in particular is to blame, {count(len(incident.affected.ranks), 'rank')} affected"


def _why(incident: Incident) -> Iterator[str]:
    moved = [one for one in incident.evidence if one.weight and one.text and one.status != "hypothesis"]
    speaking = sorted((one for one in moved if one.weight > 0), key=_heaviest)[:FOR]
    against = sorted((one for one in moved if one.weight < 0), key=_heaviest)[:AGAINST]
    if speaking:
        yield "Why: " + "; ".join(f"{one.text} ({one.weight:+.1f})" for one in speaking) + "."
    if against:
        yield "Against it: " + "; ".join(f"{one.text} ({one.weight:+.1f})" for one in against) + "."


def _why_not(incident: Incident) -> Iterator[str]:
    others = [one for one in incident.causes if one.cause not in (incident.cause, "unknown")][:OTHERS]
    told = [f"{one.cause} ({one.score:.0%}{_reason(one)})" for one in others]
    told += [f"{one.cause}: {one.because}" for one in incident.ruled_out[: max(0, OTHERS - len(told))]]
    if told:
        yield "Why not: " + "; ".join(told) + "."


def _reason(one: RankedCause) -> str:
    worst = min(one.moved, key=lambda moved: moved.weight, default=None)
    return f": {worst.text}" if worst is not None and worst.weight < 0 else ""


def _blind(incident: Incident) -> Iterator[str]:
    if incident.blind:
        yield "Not seen: " + "; ".join(incident.blind[:BLIND]) + "."


def _done(incident: Incident) -> str:
    told = [
        f"{one.action} on {one.target}: {_stand(one.decision, one.outcome, one.verification)}"
        for one in incident.actions
        if one.decision != "refused" and one.action != "notify"
    ]
    return "Being done: " + ("; ".join(told) if told else "nothing on the job") + "."


def _stand(decision: str, outcome: str, verification: str) -> str:
    words = {"would_act": "would be done, observing only", "asked": "waits for approval", "act": "started"}
    return ", ".join(one for one in (words.get(decision, decision), outcome, verification) if one)


def _heaviest(one: Evidence) -> tuple[float, str]:
    return -abs(one.weight), one.text
