"""From a matching playbook to a decision with its reason, and the request that follows from it."""

from msgspec import Struct, structs

from playbooks.guard import Situation, refusal
from playbooks.playbook import Playbook
from playbooks.reasons import Reason
from schemas.action import Request, Verdict
from schemas.ids import derived_id
from schemas.incident import Incident


class Decision(Struct, frozen=True):
    """What was decided, and why."""

    verdict: Verdict
    reason: Reason


_BY_MODE = {
    "observe": Decision("would_act", Reason.OBSERVE),
    "ask": Decision("asked", Reason.ASKED),
    "act": Decision("act", Reason.ACT),
}


def decide(playbook: Playbook, incident: Incident, target: str, targets: int, at: Situation) -> Decision:
    """Decide on one target of one matching playbook."""
    reason = refusal(playbook, incident, target, targets, at)
    return Decision("refused", reason) if reason is not None else _BY_MODE[playbook.mode]


def request(
    playbook: Playbook,
    incident: Incident,
    target: str,
    verdict: Verdict,
    occasion: str,
    at: Situation,
    step: int | None,
) -> Request | None:
    """Write the request for a decision, None where nothing is to be run.

    Args:
        occasion: `opened`, `changed` or `resolved`; part of the request's identity.
        step: the job's last step.
    """
    if verdict not in ("act", "asked"):
        return None
    return Request(
        id=derived_id(incident.id, playbook.playbook, playbook.action, target, *identity(occasion, incident)),
        incident=incident.id,
        job=incident.job,
        attempt=incident.attempt,
        cluster=incident.cluster,
        playbook=playbook.playbook,
        action=playbook.action,
        target=target,
        params={name: occasion if value == "$occasion" else value for name, value in playbook.params.items()},
        decision="act" if verdict == "act" else "asked",
        time=at.now,
        step=step,
        expires=playbook.expires,
        reversible=bool(playbook.on_failure),
        summary=f"{playbook.summary} ({incident.title})",
    )


def identity(occasion: str, incident: Incident) -> tuple[str, ...]:
    """What tells one occasion from the next: an incident may get worse twice."""
    return (occasion, incident.severity) if occasion == "changed" else (occasion,)


def approved(asked: Request, at: Situation, step: int | None) -> Request:
    """The request that follows when a person says yes: another one, for the first was never to be run."""
    return structs.replace(
        asked,
        id=derived_id(asked.id, "approved"),
        decision="act",
        time=at.now,
        step=step if step is not None else asked.step,
    )


def undoing(done: Request, action: str, at: Situation, step: int | None) -> Request:
    """The request that takes back what did not help."""
    return structs.replace(
        done,
        id=derived_id(done.id, action),
        action=action,
        params={},
        time=at.now,
        step=step,
        summary=f"take back {done.action}: it did not help",
    )
