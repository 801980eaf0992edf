"""NeMo 2: `Training epoch 0, iteration 41/249 | lr: ... | global_step: 41 | reduced_train_loss: ...`."""

from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number, whole

_SIGNALS = {
    "lr": "learning_rate",
    "global_batch_size": "batch_size",
    "reduced_train_loss": "loss",
    "train_step_timing in s": "step_seconds",
    "grad_norm": "grad_norm",
    "tokens_per_sec_per_gpu": "tokens_per_second_per_gpu",
    "TFLOPS_per_GPU": "tflops",
    "tflops_per_sec_per_gpu": "tflops",
}


class Nemo:
    """Reads the training lines; the validation loss repeats unchanged until the next validation and counts once."""

    needles = ("Training epoch",)

    def __init__(self) -> None:
        self._steps = Steps()
        self._validated: Reading = None

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        fields = {}
        for part in line.text[line.text.find("Training epoch") :].split(" | "):
            name, colon, printed = part.partition(": ")
            if colon:
                fields[name.strip()] = printed.strip()
        step = whole(fields.get("global_step", ""))
        if step is None:
            return None
        values: dict[str, Reading] = {
            signal: value for name, signal in _SIGNALS.items() if (value := number(fields.get(name, ""))) is not None
        }
        validated = number(fields.get("val_loss", ""))
        if validated is not None and validated != self._validated:
            values["valid_loss"] = self._validated = validated
        return [self._steps.step(step, values, line.time)]
