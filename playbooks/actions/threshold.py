"""A proposal learned from an incident: from which rate of storage retries on a playbook should act."""

import math
from collections.abc import Sequence

from msgspec import Struct

from schemas.action import ActionEntry
from schemas.detection import Detection
from schemas.incident import Incident
from schemas.telemetry import is_finite

QUIET_SHARE = 0.01
"""A healthy rate of zero does not say how far a busy storage strays; it counts as this share of the rate met."""

HELD_STEPS = 10
"""Steps for which the rate has to stay above the threshold: a burst of retries is daily business."""


class Proposal(Struct, frozen=True, kw_only=True):
    """A threshold, and the numbers of the incident it was made from.

    Attributes:
        signal: what to watch.
        above: the proposed limit, in the signal's unit (1/s for a rate of retries).
        healthy: the level before the incident.
        met: the level in the incident.
        playbook: the playbook that acted first, the one to change; "" when none acted.
        earlier_seconds: how long before that action the retries had been noticed; None when nothing acted.
        earlier_steps: the same in steps, where both are known.
    """

    signal: str
    above: float
    healthy: float
    met: float
    playbook: str
    earlier_seconds: float | None
    earlier_steps: int | None


def propose(incident: Incident, detections: Sequence[Detection]) -> Proposal | None:
    """Lay the threshold in the middle, on a scale of ratios, between the healthy rate and the one met.

    Args:
        incident: its latest revision.
        detections: those it rests on.

    Returns:
        None when the incident has no usable storage figures.
    """
    figures = [found for found in map(_figures, detections) if found is not None]
    if not figures:
        return None
    retries, healthy, met = max(figures, key=lambda found: found[2] / max(found[1], found[2] * QUIET_SHARE))
    acted = _first_act(incident)
    return Proposal(
        signal=retries.signal,
        above=_middle(healthy, met),
        healthy=healthy,
        met=met,
        playbook=acted.playbook if acted else "",
        earlier_seconds=acted.time - retries.time if acted else None,
        earlier_steps=_steps(retries.step, acted.step) if acted else None,
    )


def as_yaml(proposal: Proposal) -> str:
    """Write the proposal as the condition to put into a playbook."""
    return "\n".join(
        (
            f"playbook: {proposal.playbook or 'a new one, none acted'}",
            "when:",
            "  all:",
            f"    - signal: {proposal.signal}",
            f"      above: {proposal.above:g}  # healthy {proposal.healthy:.3g}, in this incident {proposal.met:.3g}",
            f"      steps: {HELD_STEPS}",
        )
    )


def _figures(detection: Detection) -> tuple[Detection, float, float] | None:
    """Give healthy and met level of a rise in storage retries; None for anything else."""
    if not detection.signal.startswith("storage_retries"):
        return None
    if not (is_finite(detection.before) and is_finite(detection.after)):
        return None
    healthy, met = max(float(detection.before or 0.0), 0.0), float(detection.after or 0.0)
    return (detection, healthy, met) if met > healthy else None


def _first_act(incident: Incident) -> ActionEntry | None:
    """Find the first action on the job itself; messages, ledger and documents heal nothing."""
    only_words = ("notify", "webhook", "taint.mark", "postmortem.open")
    acts = [entry for entry in incident.actions if entry.decision == "act" and entry.action not in only_words]
    return min(acts, key=lambda entry: entry.time, default=None)


def _steps(begin: int | None, end: int | None) -> int | None:
    return None if begin is None or end is None else end - begin


def _middle(healthy: float, met: float) -> float:
    """Take the geometric mean in two digits, or exactly where two digits would leave the gap between both."""
    exact = math.sqrt(max(healthy, met * QUIET_SHARE) * met)
    rounded = float(f"{exact:.2g}")
    return rounded if healthy < rounded < met else exact
