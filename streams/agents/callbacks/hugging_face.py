"""A callback for the Hugging Face trainer: `Trainer(..., callbacks=[TrainmasterCallback(Hook.from_environment())])`.

Steps with the time spent waiting for batches, loss and learning rate where they are logged, saves and evaluations; a
save is put off, or made at once, as the control file says. Copied beside the hook.
"""

from __future__ import annotations

from typing import Any

try:
    from transformers import TrainerCallback as _Base
except ImportError:  # the file is read where there is no trainer, by a test or a person
    _Base = object

_LOGGED = {"loss": "loss", "grad_norm": "grad_norm", "learning_rate": "learning_rate", "epoch": "epoch"}


class TrainmasterCallback(_Base):  # type: ignore[misc]
    """Tells the hook what the trainer does.

    Args:
        hook: of this process; every rank needs one.
    """

    def __init__(self, hook: Any) -> None:  # noqa: ANN401 - a Hook, copied beside this file
        self._hook = hook
        self._open: Any = None  # the step being measured
        self._save: Any = None  # the save being measured
        self._waiting = False  # for the log of a step that is over

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
        """The attempt starts: its configuration is what the trainer was given."""
        config = args.to_dict() if hasattr(args, "to_dict") else {}
        self._hook.start(config, resume_step=state.global_step, total_steps=state.max_steps)
        self._begin(state)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
        """The batch is here: what has passed since the step was opened was spent waiting for it."""
        if self._open is None:
            self._begin(state)
        self._loading.__exit__(None, None, None)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:  # noqa: ANN401, ARG002
        """The step is over; where it is going to be logged its values are waited for. A save is granted or put off."""
        step = state.global_step
        control.should_save = self._hook.checkpoint_due(step, step if control.should_save else 0)
        self._waiting = bool(control.should_log)
        if not self._waiting:
            self._end()
        if control.should_evaluate:
            self._hook.event("phase.begin", phase="eval")
        elif control.should_save:
            self._begin_save(step)
        if not self._waiting:
            self._begin(state)
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ANN401, ARG002
        """The values of the step that is over are known."""
        if self._waiting and self._open is not None:
            self._waiting = False
            self._open.log(**{_LOGGED[name]: value for name, value in (logs or {}).items() if name in _LOGGED})
            self._end()
            self._begin(state)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:  # noqa: ANN401, ARG002
        """The evaluation is over; its loss goes with the next step."""
        self._hook.event("phase.end", phase="eval")
        self._begin(state)
        if "eval_loss" in (metrics or {}):
            self._open.log(valid_loss=metrics["eval_loss"])
        if control.should_save:
            self._begin_save(state.global_step)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
        """The save is complete."""
        if self._save is not None:
            self._save.__exit__(None, None, None)
            self._save = None
        self._begin(state)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
        """The attempt ends."""
        self._hook.end("finished" if state.global_step >= state.max_steps else "stopped")

    def _begin(self, state: Any) -> None:  # noqa: ANN401 - the trainer's state
        kept = dict(self._open.job_values) if self._open is not None and not self._waiting else {}
        self._open = self._hook.step(state.global_step + 1)
        self._open.__enter__()
        self._open.job_values.update(kept)
        self._loading = self._open.loading()
        self._loading.__enter__()

    def _end(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open.job_values = {}

    def _begin_save(self, step: int) -> None:
        self._save = self._hook.checkpoint(step)
        self._save.__enter__()
