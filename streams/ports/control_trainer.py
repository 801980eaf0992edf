"""The way to a training process: its control document, kept in the archive and fetched by the node's agent."""

from schemas.action import Control
from streams.ports.control_document import Wishes, with_settings, without
from streams.stages.stage import Sent
from streams.stores.store import Archive


class ControlTrainer:
    """Read, change, and write whole."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def set(self, job: str, attempt: int, settings: Wishes, request: str) -> Control:
        """Change some settings; the others stay. Setting the same again changes nothing.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
        """
        present = self._archive.control(job)
        return self._write(present, with_settings(present, job, attempt, settings, request))

    async def clear(self, job: str, attempt: int, names: tuple[str, ...]) -> Control:
        """Give settings back to the trainer's own way.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
        """
        present = self._archive.control(job)
        return self._write(present, without(present, job, attempt, names))

    def _write(self, present: Control | None, wanted: Control) -> Control:
        if wanted != present and wanted.version > 0:
            self._archive.put([Sent("control", wanted.job, wanted)], upto=self._archive.progress())
        return wanted
