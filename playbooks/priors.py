"""Priors of an installation: what its operators know of their cluster before anything is seen, in nats.

A prior is a line in the settings, so it can be read, reviewed and taken back. Verdicts that people gave when they
closed incidents are turned into proposed lines, with the counts they come from; nobody moves them behind their backs.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from playbooks.cause import UNKNOWN, Cause
from schemas.incident import Incident

MOST = 1.0
"""Nats that verdicts of the past may move a cause at most: evidence decides, not habit."""
LIKENESS = 4.0
"""Verdicts that count as seen before the first one: a single night is no habit."""


class Proposal(Struct, frozen=True):
    """A prior that the verdicts of people speak for.

    Attributes:
        confirmed: incidents that people closed with this cause.
        overruled: incidents that it led and that people gave another cause, or called legitimate.
        verdicts: behind it, each in words: which incident, who, and what was said of it.
    """

    cause: str
    nats: float
    confirmed: int
    overruled: int
    verdicts: tuple[str, ...] = ()


class UnknownPrior(ValueError):
    """A prior for a cause or layer that is not there."""


def with_priors(causes: tuple[Cause, ...], priors: Mapping[str, float]) -> tuple[Cause, ...]:
    """Set the priors of an installation; that of a cause goes before that of its layer.

    Args:
        causes: the catalogue.
        priors: cause or layer -> nats.

    Raises:
        UnknownPrior: names what is not there.
    """
    known = {cause.cause for cause in causes} | {cause.layer for cause in causes}
    for name in priors:
        if name not in known or name == UNKNOWN:
            raise UnknownPrior(f"priors.{name}: there is no such cause or layer")
    return tuple(
        structs.replace(one, prior=one.prior + priors.get(one.cause, priors.get(one.layer, 0.0)))
        if one.cause != UNKNOWN
        else one
        for one in causes
    )


def proposals(closed: Iterable[Incident]) -> tuple[Proposal, ...]:
    """Say which priors the verdicts of people speak for, the strongest first.

    Args:
        closed: incidents that people closed, each in its last revision; `causes` still holds what led before.
    """
    confirmed: Counter[str] = Counter()
    overruled: Counter[str] = Counter()
    behind: dict[str, list[str]] = {}
    for incident in closed:
        thought = max(incident.causes, key=lambda one: (one.weight, one.cause), default=None)
        said = "legitimate" if incident.layer == "none" else incident.cause
        if incident.layer != "none":
            confirmed[incident.cause] += 1
            behind.setdefault(incident.cause, []).append(_verdict(incident, said))
        if thought is not None and thought.cause != said:
            overruled[thought.cause] += 1
            behind.setdefault(thought.cause, []).append(_verdict(incident, f"{said}, not {thought.cause}"))
    made = [
        Proposal(name, nats(confirmed[name], overruled[name]), confirmed[name], overruled[name], (*behind[name],))
        for name in {*confirmed, *overruled} - {UNKNOWN}
    ]
    return tuple(sorted((one for one in made if one.nats), key=lambda one: (-abs(one.nats), one.cause)))


def _verdict(incident: Incident, said: str) -> str:
    return f"{incident.id}, {incident.acknowledged_by or 'somebody'}: {said}"


def nats(confirmed: int, overruled: int) -> float:
    """How far so many verdicts move a prior.

    >>> nats(0, 0), nats(1, 0), nats(40, 0), nats(0, 4)
    (0.0, 0.22, 1.0, -0.69)
    """
    moved = math.log((confirmed + LIKENESS) / (overruled + LIKENESS))
    return round(max(-MOST, min(MOST, moved)), 2)
