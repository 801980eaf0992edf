"""The claims of an incident as an evidence service wants them: each with what made it, and what to compute it from."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from schemas.incident import Basis, Evidence, Incident
from schemas.origin import Origin

Origins = Mapping[int, Origin]
"""By revision of the record."""


class Traced(Struct, frozen=True):
    """A claim with the stretch of the log it rests on; None where that is not known."""

    claim: Evidence
    origin: Origin | None


class Claims(Struct, frozen=True):
    """Everything that one revision of an incident claims.

    Attributes:
        origin: what the verdict rests on.
    """

    incident: str
    revision: int
    basis: Basis | None
    origin: Origin | None
    claims: tuple[Traced, ...]


def claims_of(incident: Incident, origins: Origins, of_detection: Callable[[str], Origins]) -> Claims:
    """Join what an incident claims with where it comes from.

    A claim that a detector made rests on the log up to the finding; any other one, on all that the verdict rests on.

    Args:
        incident: one revision.
        origins: of the incident.
        of_detection: gives those of a detection by its id.
    """
    whole = origins.get(incident.revision)
    traced = tuple(Traced(one, _origin(one, whole, of_detection)) for one in incident.evidence)
    return Claims(incident.id, incident.revision, incident.basis, whole, traced)


def _origin(one: Evidence, whole: Origin | None, of_detection: Callable[[str], Origins]) -> Origin | None:
    """The youngest revision of the finding that was known when the incident was told."""
    if whole is None or not one.source:
        return whole
    known = [origin for origin in of_detection(one.source).values() if origin.last <= whole.last]
    return max(known, key=lambda origin: origin.last, default=whole)
