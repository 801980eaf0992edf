"""What stands between a matching playbook and an action; every no has its reason."""

from collections.abc import Sequence

from msgspec import Struct

from playbooks.playbook import Playbook
from playbooks.reasons import Reason
from schemas.incident import Incident


class Past(Struct, frozen=True):
    """An action taken or asked for earlier.

    Attributes:
        time: Unix seconds, in the time of the records.
        proof: the signal whose recovery it is verified by, "" where nothing is verified.
        settled: True once its verification is over, or it never needed one.
    """

    playbook: str
    target: str
    time: float
    proof: str = ""
    settled: bool = True


class Situation(Struct, frozen=True):
    """What the guard looks at besides playbook and incident.

    Attributes:
        now: the job's stream clock, Unix seconds.
        data_age: seconds since the last step on that clock.
        has_baseline: what is normal for the signal of verification is known.
        past: what was done on this job, oldest first.
        steady: seconds for which the same nodes have been to blame.
    """

    now: float
    data_age: float
    has_baseline: bool
    past: Sequence[Past] = ()
    steady: float = float("inf")


def refusal(playbook: Playbook, incident: Incident, target: str, targets: int, at: Situation) -> Reason | None:
    """Give the first reason not to act, None where there is none.

    Args:
        targets: how many targets the playbook would touch for this incident.
    """
    checks = (
        (Reason.INFO, incident.severity == "info"),
        (Reason.NOBODY, not target),
        (Reason.TOO_MANY, targets > playbook.most_targets),
        (Reason.UNSTEADY, playbook.target == "nodes" and at.steady < playbook.steady_seconds),
        (Reason.UNSURE, incident.confidence < playbook.when.confidence),
        (Reason.CHEAP, incident.gpu_hours_lost * 3600.0 < playbook.price),
        (Reason.STALE, 0 < playbook.fresh_seconds < at.data_age),
        (Reason.NO_BASELINE, playbook.verify is not None and playbook.verify.below is None and not at.has_baseline),
        (Reason.TARGET_BUSY, _is_busy(playbook, target, at)),
        (Reason.COOLDOWN, _cools(playbook, target, at)),
        (Reason.BUDGET, _is_spent(playbook, at)),
    )
    return next((reason for reason, stands in checks if stands), None)


def _is_busy(playbook: Playbook, target: str, at: Situation) -> bool:
    """Two actions that both claim the recovery of a signal cannot be told apart."""
    if playbook.verify is None:
        return False
    proof = playbook.verify.signal
    return any(one.target == target and not one.settled and one.proof == proof for one in at.past)


def _cools(playbook: Playbook, target: str, at: Situation) -> bool:
    return any(
        one.playbook == playbook.playbook and one.target == target and at.now - one.time < playbook.cooldown
        for one in at.past
    )


def _is_spent(playbook: Playbook, at: Situation) -> bool:
    window = playbook.budget.seconds
    taken = [one for one in at.past if one.playbook == playbook.playbook and at.now - one.time < window]
    return len(taken) >= playbook.budget.actions
