"""Whether a playbook applies to an incident, and to whom."""

from collections.abc import Mapping

from playbooks.playbook import Limit, Playbook
from schemas.incident import SEVERITIES, Incident


def matches(playbook: Playbook, incident: Incident, held: Mapping[str, float], step: int | None) -> bool:
    """Tell whether an incident looks like what a playbook is for.

    Args:
        playbook: the policy.
        incident: in its present revision.
        held: `limit_key` -> Unix seconds at which that limit on a signal last held.
        step: the job's last step.
    """
    when = playbook.when
    return (
        (not when.causes or incident.cause in when.causes)
        and (not when.layers or incident.layer in when.layers)
        and SEVERITIES.index(incident.severity) >= SEVERITIES.index(when.severity)
        and incident.state in when.states
        and all(_holds(limit, incident, held, step) for limit in when.all)
    )


def limit_key(limit: Limit) -> str:
    """Name a limit on a signal.

    >>> limit_key(Limit(signal="loader_share", above=0.15, steps=50))
    'loader_share>0.15x50'
    """
    return f"{limit.signal}>{limit.above:g}x{limit.steps}"


def targets(playbook: Playbook, incident: Incident) -> tuple[str, ...]:
    """Name whom the action would concern; empty where nobody in particular is to blame."""
    return (incident.job,) if playbook.target == "job" else incident.nodes


def _holds(limit: Limit, incident: Incident, held: Mapping[str, float], step: int | None) -> bool:
    if limit.signal:
        return held.get(limit_key(limit), -1.0) >= incident.onset_time
    return _number(limit, incident, step) > limit.above


def _number(limit: Limit, incident: Incident, step: int | None) -> float:
    if limit.incident == "gpu_hours_lost":
        return incident.gpu_hours_lost
    if limit.incident == "confidence":
        return incident.confidence
    last = incident.end_step if incident.end_step is not None else step
    if incident.onset_step is None or last is None:
        return 0.0
    return float(last - incident.onset_step)
