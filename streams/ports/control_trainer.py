"""The way to a training process: its control document, kept in the archive and fetched by the node's agent."""

from collections.abc import Mapping

from playbooks.ports import NotAllowed
from schemas.action import Control, Setting
from streams.stages.stage import Sent
from streams.stores.store import Archive


class ControlTrainer:
    """Read, change, and write whole; the version grows with every change and with nothing else.

    Settings die with their attempt: the first wish to a newer attempt starts from an empty document.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def set(
        self, job: str, attempt: int, settings: Mapping[str, str | int | float | bool], request: str
    ) -> Control:
        """Change some settings; the others stay. Setting the same again changes nothing.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
        """
        present = self._present(job, attempt)
        wished = {name: Setting(value=value, request=request) for name, value in settings.items()}
        return self._write(present, {**present.settings, **wished})

    async def clear(self, job: str, attempt: int, names: tuple[str, ...]) -> Control:
        """Give settings back to the trainer's own way.

        Raises:
            NotAllowed: the document already speaks to a newer attempt.
        """
        present = self._present(job, attempt)
        return self._write(present, {name: one for name, one in present.settings.items() if name not in names})

    def _present(self, job: str, attempt: int) -> Control:
        control = self._archive.control(job)
        if control is None:
            return Control(job=job, attempt=attempt, version=0)
        if control.attempt > attempt:
            raise NotAllowed(f"attempt {attempt} is over, the control document speaks to attempt {control.attempt}")
        if control.attempt < attempt:
            return Control(job=job, attempt=attempt, version=control.version)
        return control

    def _write(self, present: Control, settings: dict[str, Setting]) -> Control:
        if settings == present.settings:
            return present
        control = Control(job=present.job, attempt=present.attempt, version=present.version + 1, settings=settings)
        self._archive.put([Sent("control", control.job, control)], upto=self._archive.progress())
        return control
