"""Progress bars that carry the numbers: Lightning, NeMo 1 and, for the step alone, the Hugging Face trainer."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number, whole

_BAR = re.compile(r"Epoch (\d{1,9}):[^\n]{0,400}?\| *(\d{1,12})/(\d{1,12}|\?) \[([^\]]{0,4000})\]")
_PACE = re.compile(r"(\d[\d.]{0,20})(it/s|s/it)")
_PAIR = re.compile(r"(?:^|,) *([A-Za-z_][\w ./]{0,80})=([^,]+)")
_SAVING = re.compile(r"Epoch \d{1,9}, global step (\d{1,16}): .{0,400}?saving model to '([^']{0,4000})'")
_END = re.compile(r"`?Trainer\.fit`? stopped: (.*)")
_SIGNALS = {
    "reduced_train_loss": "loss",
    "train_loss": "loss",
    "train_loss_step": "loss",
    "train/loss_step": "loss",
    "train/loss": "loss",
    "loss_step": "loss",
    "loss": "loss",
    "grad_norm": "grad_norm",
    "lr": "learning_rate",
    "train_step_timing in s": "step_seconds",
    "train_step_timing": "step_seconds",
}
_VALIDATED = ("val_loss", "val/loss", "valid_loss", "valid/loss", "val_loss_epoch")


class ProgressBar:
    """Reads Lightning's bars; a step is told once, however often its bar is drawn."""

    needles = ("Epoch ", "Trainer.fit")

    def __init__(self) -> None:
        self._steps = Steps()
        self._validated: Reading = None
        self._per_epoch = 0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one bar or the end."""
        if found := _END.search(line.text):
            reached = "max_" in found[1]
            data = {"reason": "finished" if reached else "stopped", "exit_code": 0}
            return [Happening(event="attempt.ended", data=data, text=line.text, time=line.time)]
        found, saving = _BAR.search(line.text), _SAVING.search(line.text)
        saves = [_save(saving, line)] if saving else []
        return [*(self._bar(found, line) if found else []), *saves]

    def _bar(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        fields = {name.strip(): value.strip() for name, value in _PAIR.findall(found[4])}
        values: dict[str, Reading] = {
            signal: value
            for name, signal in reversed(_SIGNALS.items())
            if (value := number(fields.get(name, ""))) is not None
        }
        step = self._step_of(found, fields)
        if step is None or not values or step == self._steps.last:
            return []
        validated = next((loss for name in _VALIDATED if (loss := number(fields.get(name, ""))) is not None), None)
        if validated is not None and validated != self._validated:
            values["valid_loss"] = self._validated = validated
        if "step_seconds" not in values and (paced := _PACE.search(found[4])) and (pace := float(paced[1])) > 0:
            values["step_seconds_mean"] = 1 / pace if paced[2] == "it/s" else pace
        return [self._steps.step(step, values, line.time)]

    def _step_of(self, found: re.Match[str], fields: dict[str, str]) -> int | None:
        """Take the step's number where it was printed in full, else count it from the epochs and the bar."""
        printed = fields.get("global_step", "")
        step = whole(printed)
        if step is not None and "e" not in printed:
            return step
        per_epoch = whole(found[3])
        if per_epoch:
            self._per_epoch = per_epoch
        return int(found[1]) * self._per_epoch + int(found[2])


def _save(found: re.Match[str], line: Line) -> Happening:
    return Happening(event="checkpoint.begin", data={"step": int(found[1])}, text=found[0], time=line.time)
