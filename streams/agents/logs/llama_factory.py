"""LLaMA-Factory's trainer_log.jsonl: one JSON object per logged step or evaluation."""

import json
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_SIGNALS = {
    "loss": "loss",
    "eval_loss": "valid_loss",
    "learning_rate": "learning_rate",
    "lr": "learning_rate",
    "epoch": "epoch",
    "throughput": "tokens_per_second_mean",
}


class LlamaFactory:
    """Reads its objects; an evaluation is a record of its own at the same step."""

    needles = ('"current_steps"',)

    def __init__(self) -> None:
        self._steps = Steps()

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one object; the file has no absolute time."""
        begin = line.text.find("{")
        try:
            said = json.loads(line.text[begin:])
        except ValueError:
            return None
        step = said.get("current_steps") if isinstance(said, dict) else None
        if not isinstance(step, int) or not 0 <= step <= 1 << 53:
            return None
        values: dict[str, Reading] = {
            signal: value for name, signal in _SIGNALS.items() if (value := _value(said.get(name))) is not None
        }
        return [self._steps.step(step, values, None)]


def _value(printed: object) -> Reading:
    """Read a number, or the text of one, as which older versions print speeds."""
    if isinstance(printed, str):
        return number(printed)
    return float(printed) if isinstance(printed, int | float) and not isinstance(printed, bool) else None
