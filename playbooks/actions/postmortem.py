"""The post-mortem of an incident as a Markdown document: what the numbers tell, with room for what people add."""

from collections.abc import Iterable, Sequence
from html import escape

from playbooks.actions.threshold import Proposal, as_yaml, propose
from playbooks.actions.timeline import timeline, utc
from schemas.detection import Detection
from schemas.incident import Evidence, Incident
from schemas.wording import count, step_words


def postmortem(revisions: Sequence[Incident], detections: Sequence[Detection]) -> str:
    """Write the document.

    Args:
        revisions: of one incident, oldest first, at least one.
        detections: those the incident rests on, for the figures behind the proposal.
    """
    incident = revisions[-1]
    sections = (
        _head(incident),
        "## Timeline\n\n" + _table(("when", "what"), ((utc(m.time), m.text) for m in timeline(revisions))),
        _cause(incident),
        _ruled_out(incident),
        _actions(incident),
        _cost(incident),
        _proposal(incident, propose(incident, detections)),
        "## Left to people\n\n- Owner:\n- Decision on the proposed change:\n- Follow-ups:\n",
    )
    return "\n\n".join(section.rstrip() for section in sections) + "\n"


def _head(incident: Incident) -> str:
    culprits = (
        ("nodes", incident.nodes),
        ("ranks", tuple(str(rank) for rank in incident.ranks)),
        ("GPUs", incident.gpus),
    )
    end = "not ended" if incident.end_time is None else f"{step_words(incident.end_step)}, {utc(incident.end_time)}"
    rows = [
        ("incident", f"{incident.id}, revision {incident.revision}"),
        ("job", f"{incident.job}, attempt {incident.attempt}, cluster {incident.cluster}"),
        ("severity, state", f"{incident.severity}, {incident.state}"),
        ("from", f"{step_words(incident.onset_step)}, {utc(incident.onset_time)}"),
        ("to", end),
        *((f"culprit {kind}", ", ".join(names)) for kind, names in culprits if names),
        ("affected", _affected(incident)),
        *([("repeats incident", incident.linked)] if incident.linked else []),
    ]
    return f"# Post-mortem: {_plain(incident.title or incident.cause)}\n\n" + _table(("", ""), rows)


def _affected(incident: Incident) -> str:
    victims = (
        count(len(incident.affected.jobs), "job"),
        count(len(incident.affected.nodes), "node"),
        count(len(incident.affected.ranks), "rank"),
    )
    return ", ".join(victims)


def _cause(incident: Incident) -> str:
    ranked = _table(("cause", "belief"), ((cause.cause, f"{cause.score:.0%}") for cause in incident.causes))
    speaking = [entry for entry in incident.evidence if entry.speaks_for]
    against = [entry for entry in incident.evidence if not entry.speaks_for]
    return "\n\n".join(
        (
            f"## Cause: {_plain(incident.cause)} ({incident.confidence:.0%}, layer {incident.layer})",
            ranked,
            "### Evidence for\n\n" + _list(map(_statement, speaking)),
            "### Evidence against\n\n" + _list(map(_statement, against)),
            "### Missing: what could not be seen\n\n" + _list(incident.blind),
        )
    )


def _statement(evidence: Evidence) -> str:
    role = "" if evidence.role == "unplaced" else f", {evidence.role}"
    return f"{evidence.text} ({evidence.status}, layer {evidence.layer}{role})"


def _ruled_out(incident: Incident) -> str:
    return "## Ruled out\n\n" + _list(f"{out.cause}: {out.because}" for out in incident.ruled_out)


def _actions(incident: Incident) -> str:
    rows = (
        (
            utc(entry.time),
            step_words(entry.step),
            entry.playbook,
            f"{entry.action} on {entry.target}",
            f"{entry.decision} ({entry.reason})",
            entry.outcome or "–",
            entry.verification or "–",
            entry.detail,
        )
        for entry in incident.actions
    )
    columns = ("when", "step", "playbook", "action", "decision", "outcome", "verification", "numbers")
    return "## Actions and verification\n\n" + _table(columns, rows)


def _cost(incident: Incident) -> str:
    lines = [f"{incident.gpu_hours_lost:.1f} GPU-hours were lost against the baseline frozen before the onset."]
    if incident.taint is not None:
        marked = "stand in the ledger" if incident.taint.marked else "do not stand in the ledger yet"
        lines.append(
            f"Steps {incident.taint.from_step:,} to {incident.taint.to_step:,} are contaminated and {marked}; "
            f"{count(len(incident.taint.checkpoints), 'checkpoint')} written inside."
        )
    return "## Cost\n\n" + "\n".join(lines)


def _proposal(incident: Incident, proposal: Proposal | None) -> str:
    head = "## Proposed change: act on storage retries\n\n"
    if proposal is None:
        seen = count(len(incident.detections), "detection")
        return head + f"The incident holds no storage figures ({seen}, none of a rise in storage retries): no proposal."
    lead = "No playbook acted on the job, so nothing can be said about time won."
    if proposal.earlier_seconds is not None:
        steps = "" if proposal.earlier_steps is None else f" ({proposal.earlier_steps:,} steps)"
        lead = f"The retries had been noticed {proposal.earlier_seconds:.0f} s{steps} before the first action."
    ratio = "" if proposal.healthy == 0 else f", {proposal.met / proposal.healthy:.3g} times as much"
    return (
        f"{head}Healthy {proposal.healthy:.3g}, in the incident {proposal.met:.3g}{ratio}. {lead} The threshold lies "
        f"in the middle between both on a scale of ratios; it is meant in place of a condition that held later."
        f"\n\n```yaml\n{as_yaml(proposal)}\n```"
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(_plain(cell) for cell in row) + " |" for row in rows]
    if not lines:
        return "None."
    return "\n".join(("| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns), *lines))


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(item)}" for item in items) or "None."


def _plain(text: str) -> str:
    """Keep names and messages from other systems from becoming table cells, headings or HTML."""
    return escape(" ".join(text.split()), quote=False).replace("|", "\\|").replace("`", "'")
