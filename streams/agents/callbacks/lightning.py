"""A callback for Lightning: `Trainer(callbacks=[TrainmasterCallback(Hook.from_environment())])`.

Steps with the time spent waiting for batches, loss every so many steps, evaluations, and the pause of each save. Steps
are counted by batches. `checkpoint.now` saves at once; to let saves be put off, ask `callback.may_save(step)` in a
ModelCheckpoint of your own. Copied beside the hook.
"""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import Callback as _Base
except ImportError:
    try:
        from pytorch_lightning import Callback as _Base
    except ImportError:  # the file is read where there is no trainer, by a test or a person
        _Base = object


class TrainmasterCallback(_Base):  # type: ignore[misc]
    """Tells the hook what the trainer does.

    Args:
        hook: of this process; every rank needs one.
        every: steps from one reading of the loss to the next; reading it waits for the GPU.
        save_to: where `checkpoint.now` saves; "" lets it be.
    """

    def __init__(self, hook: Any, every: int = 50, save_to: str = "") -> None:  # noqa: ANN401 - a Hook
        self._hook, self._every, self._save_to = hook, every, save_to
        self._open: Any = None  # the step being measured
        self._save: Any = None  # the save being measured
        self._number = 0

    def may_save(self, step: int) -> bool:
        """Tell whether a save that is due at a step may be made now."""
        return bool(self._hook.checkpoint_due(step, step))

    def on_train_start(self, trainer: Any, module: Any) -> None:  # noqa: ANN401
        """The attempt starts."""
        self._number = int(trainer.global_step)
        config = dict(getattr(module, "hparams", {}) or {})
        self._hook.start(config, resume_step=self._number, total_steps=int(trainer.estimated_stepping_batches))
        self._begin()

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:  # noqa: ANN401, ARG002
        """The batch is here; a save that was under way is over."""
        if self._save is not None:
            self._save.__exit__(None, None, None)
            self._save = None
            self._begin()
        self._loading.__exit__(None, None, None)

    def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:  # noqa: ANN401, ARG002
        """The step is over."""
        if self._every and self._number % self._every == 0:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            if loss is not None:
                self._open.log(loss=float(loss))
        self._open.__exit__(None, None, None)
        if self._save_to and self._hook.checkpoint_due(self._number, 0):
            with self._hook.checkpoint(self._number):
                trainer.save_checkpoint(f"{self._save_to}/step-{self._number}.ckpt")
        self._number += 1
        self._begin()

    def on_validation_start(self, trainer: Any, module: Any) -> None:  # noqa: ANN401, ARG002
        """An evaluation begins."""
        self._hook.event("phase.begin", phase="eval")

    def on_validation_end(self, trainer: Any, module: Any) -> None:  # noqa: ANN401, ARG002
        """It ends; the step that waits for its batch begins anew."""
        self._hook.event("phase.end", phase="eval")
        if self._open is not None:
            self._begin()

    def on_save_checkpoint(self, trainer: Any, module: Any, checkpoint: Any) -> None:  # noqa: ANN401, ARG002
        """A save begins; Lightning tells of no end, so it lasts until the next batch."""
        if self._save is None:
            self._save = self._hook.checkpoint(self._number)
            self._save.__enter__()

    def on_train_end(self, trainer: Any, module: Any) -> None:  # noqa: ANN401, ARG002
        """The attempt ends."""
        self._hook.end("finished" if not getattr(trainer, "interrupted", False) else "stopped")

    def on_exception(self, trainer: Any, module: Any, exception: BaseException) -> None:  # noqa: ANN401, ARG002
        """The attempt fails."""
        self._hook.event("rank.error", rank=self._hook.rank, error=repr(exception)[:500])
        self._hook.end("failed", exit_code=1)

    def _begin(self) -> None:
        self._open = self._hook.step(self._number)
        self._open.__enter__()
        self._loading = self._open.loading()
        self._loading.__enter__()
