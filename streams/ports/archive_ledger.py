"""The ledger of contaminated steps, kept in the archive."""

from schemas.action import TaintRecord
from streams.stages.stage import Sent
from streams.stores.store import Archive


class ArchiveLedger:
    """Lines go out on the topic `taints`, where trainers and the evidence service read them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def add(self, record: TaintRecord) -> None:
        """Add a range; the same id again changes nothing."""
        self._archive.put([Sent("taints", record.job, record)], upto=self._archive.progress())
