"""Evidence computed again: the same telemetry through the same line has to say the same, claim by claim."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from schemas.incident import Evidence, Incident
from schemas.origin import Origin
from schemas.telemetry import Inbound, Tick
from streams.claims import Claims
from streams.line import Line
from streams.replay import replay

Standing = Literal["same", "differs", "gone", "new", "out_of_reach"]
FIELDS = ("status", "speaks_for", "weight", "text", "before", "after", "limit", "numbers")


class Claim(Struct, frozen=True):
    """One statement of an incident, and how it stands after the computation.

    Attributes:
        standing: it came out the same, differs, did not come out, came out though it was not told, or could not be
            computed because the log no longer reaches back.
        origin: the stretch of the log it rests on, where that is known.
    """

    standing: Standing
    text: str
    detail: str = ""
    origin: Origin | None = None


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

    def count(self, standing: Standing) -> int:
        """Say how many claims stand so."""
        return sum(one.standing == standing for one in self.claims)


class Known(Struct, frozen=True):
    """What is known of where claims come from, and of what can still be read.

    Attributes:
        claims: with their stretches of the log.
        begins: the first offset that can be read.
    """

    claims: Claims
    begins: int

    def of(self, place: int) -> Origin | None:
        """Give the stretch on which the claim at a place rests."""
        return self.claims.claims[place].origin if place < len(self.claims.claims) else self.claims.origin

    def reaches(self, origin: Origin | None) -> bool:
        """Tell whether everything can be read that a claim rests on."""
        return origin is None or self.begins <= origin.first


def recompute(line: Line, lines: Iterable[bytes], incident_id: str) -> list[Incident]:
    """Run recorded telemetry through a line, with whatever jobs tell each other; give the revisions of one incident."""
    said = replay(line, lines).said
    return [sent.record for sent in said if isinstance(sent.record, Incident) and sent.record.id == incident_id]


def recompute_key(line: Line, records: Iterable[Inbound], key: str, incident_id: str) -> list[Incident]:
    """Run a stretch of the log through the line of one key, as it was taken; give the revisions of one incident.

    Nothing is fed back and nothing is flushed: what jobs told each other stands in the log itself.
    """
    memory, found = line.blank(key), []
    for record in records:
        if isinstance(record, Tick) or record.job == key:
            said = line.feed(memory, record)
            found += [one.record for one in said if isinstance(one.record, Incident) and one.record.id == incident_id]
    return found


def verify(told: Incident, computed: Sequence[Incident], known: Known | None = None) -> Verification:
    """Hold what was told against what was computed: the same revision, else the last one.

    Args:
        told: as it stands on the feed.
        computed: revisions of the same incident.
        known: where the claims come from; None where a whole recording was computed.
    """
    if not computed:
        return Verification(False, told.revision, tuple(_gone(told, known)))
    again = next((one for one in computed if one.revision == told.revision), computed[-1])
    claims = [_at(known, place, _claim(one, again.evidence)) for place, one in enumerate(told.evidence)]
    places = {_place(one) for one in told.evidence}
    claims += [_at(known, len(claims), Claim("new", one.text)) for one in again.evidence if _place(one) not in places]
    verdict = (told.cause, told.layer, told.onset_step, told.nodes, told.ranks, told.gpus)
    now = (again.cause, again.layer, again.onset_step, again.nodes, again.ranks, again.gpus)
    stands = Claim("same" if verdict == now else "differs", f"the verdict is {told.cause}", f"now {again.cause}")
    claims.append(_at(known, len(claims), stands))
    records = told.basis.records if told.basis is not None else 0
    return Verification(True, again.revision, tuple(claims), tuple(_changed(told, again)), records)


def _gone(told: Incident, known: Known | None) -> Iterator[Claim]:
    for place, one in enumerate(told.evidence):
        yield _at(known, place, Claim("gone", one.text))


def _at(known: Known | None, place: int, claim: Claim) -> Claim:
    """Note where a claim comes from; one that did not come out the same says nothing where the log was cut off."""
    if known is None:
        return claim
    origin = known.of(place)
    if claim.standing == "same" or origin is None or known.reaches(origin):
        return structs.replace(claim, origin=origin)
    detail = f"it rests on {origin.first} to {origin.last}, and the log begins at {known.begins}"
    return structs.replace(claim, standing="out_of_reach", origin=origin, detail=detail)


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
