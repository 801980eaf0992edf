"""The Hugging Face trainer: dictionaries in Python's own spelling, and the step on the progress bar beside them."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_BAR = re.compile(r"(?:^|\D)\d{1,3}%\|?.{0,400}?(\d{1,12})/(\d{1,12}) \[")
_LOG = re.compile(r"\{'(?:loss|eval_loss|train_runtime|eval_runtime|grad_norm|train_loss)'[^}]{0,4000}\}")
_PAIR = re.compile(r"'(\w+)': *'?([^,}']+)'?")
_SIGNALS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "epoch": "epoch",
    "eval_loss": "valid_loss",
    "train_samples_per_second": "samples_per_second_mean",
    "num_tokens": "tokens_seen",
}


class HuggingFace:
    """Reads the dictionaries; their step is that of the last bar, which a dictionary often follows on one line."""

    needles = ("{'loss'", "{'eval_", "{'train_", "{'grad_norm'", "/s]", "/it]", "/s, ", "/it, ")

    def __init__(self) -> None:
        self._steps = Steps()
        self._at: int | None = None
        self._count = 0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line: a bar, a dictionary, or both."""
        found = _LOG.search(line.text)
        for bar in _BAR.finditer(line.text):
            self._at = int(bar[1])
        if found is None:
            return None if "{'loss'" in line.text else []
        fields = dict(_PAIR.findall(found[0]))
        if "train_runtime" in fields:
            data = {"reason": "finished", "exit_code": 0, "seconds": number(fields["train_runtime"])}
            return [Happening(event="attempt.ended", data=data, text=found[0], time=line.time)]
        values: dict[str, Reading] = {
            signal: value for name, signal in _SIGNALS.items() if (value := number(fields.get(name, ""))) is not None
        }
        return [self._steps.step(self._step_of(), _corrected(values), line.time)]

    def _step_of(self) -> int:
        """Without a bar in the log the dictionaries are counted: their order is all that is known."""
        self._count += 1
        return self._count if self._at is None else self._at


def _corrected(values: dict[str, Reading]) -> dict[str, Reading]:
    """A loss of exactly 0 beside a gradient that is no number is the logger's spelling of a loss that is none.

    >>> _corrected({"loss": 0.0, "grad_norm": float("nan")})
    {'loss': nan, 'grad_norm': nan}
    """
    gradient = values.get("grad_norm")
    if values.get("loss") == 0.0 and gradient is not None and gradient != gradient:
        values["loss"] = float("nan")
    return values
