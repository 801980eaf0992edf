"""When the simulated trainer saves: on schedule, deferred, on request; in the critical path or beside it."""

from msgspec import Struct

from streams.agents.simulation.conditions import Conditions
from streams.agents.simulation.control import TrainerControl


class Save(Struct, frozen=True):
    """One checkpoint.

    Attributes:
        mode: `sync` stops the job until it is written, `async` does not.
        seconds: how long it takes to write.
        begin: Unix seconds at which it begins.
    """

    step: int
    mode: str
    seconds: float
    size: int
    begin: float

    @property
    def end(self) -> float:
        """Unix seconds at which it is complete."""
        return self.begin + self.seconds


class Checkpoints:
    """The saves of one attempt; one is written at a time."""

    def __init__(self, control: TrainerControl) -> None:
        self._control = control
        self._is_overdue = False
        self._written_until = 0.0

    def after(self, now: Conditions, time: float) -> Save | None:
        """Give the save that begins at the end of a step, if there is one."""
        job = now.job
        if job.checkpoint_every and now.step % job.checkpoint_every == 0:
            self._is_overdue = True
        scheduled = self._is_overdue and not self._control.is_deferred(now.step)
        if time < self._written_until or not (scheduled or self._control.take_wanted_save()):
            return None
        self._is_overdue = self._is_overdue and not scheduled
        save = Save(now.step, self._control.checkpoint_mode(), now.checkpoint_seconds, job.checkpoint_bytes, time)
        self._written_until = save.end
        return save
