"""fairseq and metaseq: one line per logged update, as JSON or as `name=value`, validations, and skipped updates."""

import json
import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number, whole

_PLAIN = re.compile(r"\b(\w{1,60})=([^\s,]{1,40})")
_VALID = re.compile(r"\| (valid_loss|num_updates) ([^\s|]{1,40})")
_OVERFLOW = re.compile(r"NOTE: (?:gradient )?overflow detected.{0,80}? setting loss scale to: ([\d.e+-]{1,20})")
_SIGNALS = {
    "loss": "loss",
    "gnorm": "grad_norm",
    "lr": "learning_rate",
    "loss_scale": "loss_scale",
    "wps": "tokens_per_second",
    "wpb": "tokens",
    "bsz": "batch_size",
    "epoch": "epoch",
}


class Fairseq:
    """Reads its lines; the values are means over the updates since the line before."""

    needles = (
        '"num_updates"',
        '"valid_num_updates"',
        ", num_updates=",
        "| valid_loss ",
        "NOTE: overflow",
        "NOTE: gradient",
    )

    def __init__(self) -> None:
        self._steps = Steps()

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        text = line.text
        if found := _OVERFLOW.search(text):
            values: dict[str, Reading] = {"skipped": 1.0, "loss_scale": number(found[1])}
            return [LoggedStep(step=max(0, self._steps.last), values=values, time=line.time)]
        fields = _json(text) if '_updates"' in text else dict(_PLAIN.findall(text) or _VALID.findall(text))
        if fields is None:
            return None
        if (loss := number(fields.get("valid_loss", ""))) is not None:
            at = whole(fields.get("valid_num_updates") or fields.get("num_updates") or "")
            return None if at is None else [LoggedStep(step=at, values={"valid_loss": loss}, time=line.time)]
        step = whole(fields.get("num_updates", ""))
        if step is None or "loss" not in fields:
            return None
        values = {
            signal: value for name, signal in _SIGNALS.items() if (value := number(fields.get(name, ""))) is not None
        }
        return [self._steps.step(step, values, line.time, mean=True)]


def _json(text: str) -> dict[str, str] | None:
    """Read the object on a line; its numbers are strings, or were until some version.

    >>> _json('| INFO | train_inner | {"loss": "8.125", "num_updates": 7}')
    {'loss': '8.125', 'num_updates': '7'}
    """
    try:
        said, _ = json.JSONDecoder().raw_decode(text, max(0, text.find("{")))
    except ValueError:
        return None
    return {name: str(value) for name, value in said.items()} if isinstance(said, dict) else None
