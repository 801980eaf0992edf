"""The present view of incidents and detections, read from the archive."""

from collections.abc import Iterator

from schemas.codec import from_wire
from schemas.detection import Detection
from schemas.incident import Incident
from streams.stores.store import Archive

PAGE = 1000


class ArchiveRecords:
    """What was said last of an incident."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def incident(self, incident_id: str) -> Incident | None:
        """Give the latest revision."""
        return self._archive.incident(incident_id)

    async def revisions(self, incident_id: str) -> list[Incident]:
        """Give every revision, oldest first."""
        return self._archive.revisions(incident_id)

    async def detections(self, ids: tuple[str, ...]) -> list[Detection]:
        """Give the latest revision of each of these detections, in the order of the ids.

        The archive knows detections by their order alone, so all are looked through; a post-mortem can wait for that.
        """
        wanted = set(ids)
        found: dict[str, Detection] = {}
        for detection in self._all() if wanted else ():
            known = found.get(detection.id)
            if detection.id in wanted and (known is None or detection.revision > known.revision):
                found[detection.id] = detection
        return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]

    def _all(self) -> Iterator[Detection]:
        after = 0
        while page := self._archive.feed(after, PAGE, ("detections",)):
            yield from (from_wire(filed.raw, Detection) for filed in page)
            after = page[-1].sequence
