"""Evidence computed again: the same telemetry through the same line has to say the same, claim by claim."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from schemas.incident import Evidence, Incident
from streams.line import Line
from streams.replay import replay

Standing = Literal["same", "differs", "gone", "new"]
FIELDS = ("status", "speaks_for", "weight", "text", "before", "after", "limit", "numbers")


class Claim(Struct, frozen=True):
    """One statement of an incident, and how it stands after the computation."""

    standing: Standing
    text: str
    detail: str = ""


class Verification(Struct, frozen=True):
    """What a computation came to; `found` is False where it leads to no such incident at all.

    Attributes:
        because: what is not as it was when the incident was told, where a claim may differ for it.
        records: of the incident's key that were taken until it was told so.
    """

    found: bool
    revision: int
    claims: tuple[Claim, ...]
    because: tuple[str, ...] = ()
    records: int = 0

    @property
    def holds(self) -> bool:
        """Whether every claim came out the same, and no other one."""
        return self.found and all(one.standing == "same" for one in self.claims)


def recompute(line: Line, lines: Iterable[bytes], incident_id: str) -> list[Incident]:
    """Run telemetry through a line; give the revisions of one incident, oldest first."""
    said = replay(line, lines).said
    return [sent.record for sent in said if isinstance(sent.record, Incident) and sent.record.id == incident_id]


def verify(told: Incident, computed: Sequence[Incident]) -> Verification:
    """Hold what was told against what was computed: the same revision, else the last one.

    Args:
        told: as it stands on the feed.
        computed: revisions of the same incident.
    """
    if not computed:
        return Verification(False, told.revision, tuple(Claim("gone", one.text) for one in told.evidence))
    again = next((one for one in computed if one.revision == told.revision), computed[-1])
    claims = [_claim(one, again.evidence) for one in told.evidence]
    known = {_place(one) for one in told.evidence}
    claims += [Claim("new", one.text) for one in again.evidence if _place(one) not in known]
    verdict = (told.cause, told.layer, told.onset_step, told.nodes, told.ranks, told.gpus)
    now = (again.cause, again.layer, again.onset_step, again.nodes, again.ranks, again.gpus)
    claims.append(Claim("same" if verdict == now else "differs", f"the verdict is {told.cause}", f"now {again.cause}"))
    records = told.basis.records if told.basis is not None else 0
    return Verification(True, again.revision, tuple(claims), tuple(_changed(told, again)), records)


def _changed(told: Incident, again: Incident) -> Iterator[str]:
    """Say what else is not as it was."""
    before, now = told.basis, again.basis
    if before is None or now is None:
        return
    if before.catalogue != now.catalogue:
        yield "the causes or their priors are not those it was told with"
    if before.detectors and before.detectors != now.detectors:
        yield "the detectors or their parameters are not those it was told with"
    if before.records and again.revision == told.revision and before.records != now.records:
        yield f"it was told after {before.records} records of {before.key}, and now after {now.records}"


def _claim(told: Evidence, computed: Sequence[Evidence]) -> Claim:
    alike = [one for one in computed if _place(one) == _place(told)]
    if not alike:
        return Claim("gone", told.text)
    apart = [name for name in FIELDS if all(getattr(one, name) != getattr(told, name) for one in alike)]
    if not apart:
        return Claim("same", told.text)
    return Claim("differs", told.text, ", ".join(f"{name}: now {getattr(alike[0], name)}" for name in apart))


def _place(one: Evidence) -> tuple[str, ...]:
    """What makes two statements the same one: where it comes from, else what it says without its numbers."""
    words = " ".join(word for word in one.text.split() if not any(sign.isdigit() for sign in word))
    return (one.source, one.role, one.layer, "" if one.source else words)
