"""The Hugging Face trainer: dictionaries in Python's own spelling, and the step on the progress bar beside them."""

import re
from collections.abc import Sequence
from datetime import tzinfo

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_BAR = re.compile(r"(?:^|\D)\d{1,3}%\|?.{0,400}?(\d{1,12})/(\d{1,12}) \[")
_LOG = re.compile(r"\{'(?:loss|eval_loss|train_runtime|eval_runtime|grad_norm|train_loss)'[^}]{0,4000}\}")
_PAIR = re.compile(r"'(\w+)': *'?([^,}']+)'?")
_PLAIN = re.compile(r"\{('loss': [^{}%\[\n]{1,2000})\}\n")
"""A dictionary alone on its line."""
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

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:  # noqa: ARG002 - none has a time
        """Read dictionaries of plain numbers that follow each other without a bar between them."""
        made: list[Finding] = []
        while found := _PLAIN.match(text, place):
            fields = _plain(found[1])
            if fields is None:
                break
            values: dict[str, Reading] = {
                signal: fields[name] for name, signal in _SIGNALS.items() if name in fields
            }  # fmt: skip
            made.append(self._steps.step(self._step_of(), _corrected(values), None))
            place = found.end()
        return made, place

    def _step_of(self) -> int:
        """Without a bar in the log the dictionaries are counted: their order is all that is known."""
        self._count += 1
        return self._count if self._at is None else self._at


def _plain(inner: str) -> dict[str, float] | None:
    """Read pairs of names and numbers; None where one is something else.

    >>> _plain("'loss': 2.5, 'epoch': 1e-05"), _plain("'loss': 2.5, 'train_runtime': 7.0"), _plain("'loss': '2.5'")
    ({'loss': 2.5, 'epoch': 1e-05}, None, None)
    """
    fields: dict[str, float] = {}
    for pair in inner.split(", "):
        name, colon, printed = pair.partition("': ")
        if not colon or name[:1] != "'" or not name[1:].isidentifier() or name == "'train_runtime":
            return None
        try:
            fields[name[1:]] = float(printed)
        except ValueError:
            return None
    return fields


def _corrected(values: dict[str, Reading]) -> dict[str, Reading]:
    """A loss of exactly 0 beside a gradient that is no number is the logger's spelling of a loss that is none.

    >>> _corrected({"loss": 0.0, "grad_norm": float("nan")})
    {'loss': nan, 'grad_norm': nan}
    """
    gradient = values.get("grad_norm")
    if values.get("loss") == 0.0 and gradient is not None and gradient != gradient:
        values["loss"] = float("nan")
    return values
