"""The Hugging Face trainer: dictionaries in Python's own spelling, and the step on the training's bar beside them."""

import re
from collections.abc import Sequence
from datetime import tzinfo

import msgspec
from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number
from streams.agents.logs.training_bar import TrainingBar

_LOG = re.compile(r"\{'(?:loss|eval_loss|train_runtime|eval_runtime|grad_norm|train_loss)'[^}]{0,4000}\}")
_PAIR = re.compile(r"'(\w+)': *'?([^,}']+)'?")
_NUMBER = r"-?+(?:0|[1-9]\d{0,14}+)(?:\.\d{1,20}+)?+(?:e[+-]?+\d\d?+)?+"
_PLAIN = re.compile(
    rf"(?:\{{'loss': {_NUMBER}(?:, '(?!train_runtime')\w{{1,100}}+': {_NUMBER}){{0,50}}+\}}\n){{1,500}}+",
    re.ASCII,
)
"""Dictionaries of numbers alone on their lines; the numbers are spelled as JSON spells them."""
_SIGNALS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "epoch": "epoch",
    "eval_loss": "valid_loss",
    "train_samples_per_second": "samples_per_second_mean",
    "num_tokens": "tokens_seen",
}


class _Logged(Struct, gc=False):  # it holds numbers: no circle goes through it
    """What is read of a dictionary; a pair that it has not is None."""

    loss: float
    grad_norm: float | None = None
    learning_rate: float | None = None
    epoch: float | None = None
    eval_loss: float | None = None
    train_samples_per_second: float | None = None
    num_tokens: float | None = None


_dictionaries = msgspec.json.Decoder(list[_Logged])


class HuggingFace:
    """Reads the dictionaries; their step is that of the last bar, which a dictionary often follows on one line."""

    needles = ("{'loss'", "{'eval_", "{'train_", "{'grad_norm'", "/s]", "/it]", "/s, ", "/it, ")

    def __init__(self) -> None:
        self._steps = Steps()
        self._bar = TrainingBar()
        self._count = 0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line: a bar, a dictionary, or both."""
        found = _LOG.search(line.text)
        self._bar.look(line.text)
        if found is None:
            return None if "{'loss'" in line.text else []
        fields = dict(_PAIR.findall(found[0]))
        if "train_runtime" in fields:
            data = {"reason": "finished", "exit_code": 0, "seconds": number(fields["train_runtime"])}
            return [Happening(event="attempt.ended", data=data, text=found[0], time=line.time)]
        values: dict[str, Reading] = {
            signal: value for name, signal in _SIGNALS.items() if (value := number(fields.get(name, ""))) is not None
        }
        at = self._bar.at_loss() if "loss" in values else self._bar.at_evaluation()
        return [self._steps.step(self._counted(at), _corrected(values), line.time)]

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:  # noqa: ARG002 - none has a time
        """Read dictionaries of plain numbers that follow each other without a bar between them."""
        found = _PLAIN.match(text, place)
        if found is None:
            return [], place
        at = self._bar.at_loss()
        return self._steps.row((self._counted(at), _values(each)) for each in _rows(found[0])), found.end()

    def _counted(self, at: int | None) -> int:
        """Without a bar in the log the dictionaries are counted: their order is all that is known."""
        self._count += 1
        return self._count if at is None else at


def _rows(lines: str) -> list[_Logged]:
    r"""Read whole lines by rewriting them as JSON, which is read much faster than a line is.

    >>> [each.loss for each in _rows("{'loss': 2.5, 'epoch': 1e-05}\n{'loss': 2.25, 'entropy': 1}\n")]
    [2.5, 2.25]
    """
    return _dictionaries.decode("[" + lines.replace("}\n{", "},{").replace("'", '"') + "]")


def _values(logged: _Logged) -> dict[str, Reading]:
    values: dict[str, Reading] = {"loss": logged.loss}
    if logged.grad_norm is not None:
        values["grad_norm"] = logged.grad_norm
    if logged.learning_rate is not None:
        values["learning_rate"] = logged.learning_rate
    if logged.epoch is not None:
        values["epoch"] = logged.epoch
    if logged.eval_loss is not None:
        values["valid_loss"] = logged.eval_loss
    if logged.train_samples_per_second is not None:
        values["samples_per_second_mean"] = logged.train_samples_per_second
    if logged.num_tokens is not None:
        values["tokens_seen"] = logged.num_tokens
    return values


def _corrected(values: dict[str, Reading]) -> dict[str, Reading]:
    """A loss of exactly 0 beside a gradient that is no number is the logger's spelling of a loss that is none.

    >>> _corrected({"loss": 0.0, "grad_norm": float("nan")})
    {'loss': nan, 'grad_norm': nan}
    """
    gradient = values.get("grad_norm")
    if values.get("loss") == 0.0 and gradient is not None and gradient != gradient:
        values["loss"] = float("nan")
    return values
