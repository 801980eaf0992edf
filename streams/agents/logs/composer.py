"""Composer and LLM Foundry: `[batch=11/4800]:`, then one metric per indented line, of training or of an evaluation."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_HEAD = re.compile(r"\[batch=(\d{1,15})/[\d?]{1,15}\]:\s*$")
_METRIC = re.compile(r"\s(Train|Eval) ([\w./ -]{1,120}): (\S+)\s*$")
_SIGNALS = {
    "loss/train/total": "loss",
    "l2_norm/grad/global": "grad_norm",
    "throughput/device/tokens_per_sec": "tokens_per_second_per_gpu",
    "throughput/device/mfu": "mfu",
    "throughput/batches_per_sec": "steps_per_second_mean",
    "throughput/samples_per_sec": "samples_per_second_mean",
    "metrics/eval/LanguageCrossEntropy": "valid_loss",
}
_RATE = re.compile(r"lr-\w+/group0")
_MOST_LINES = 500


class Composer:
    """Reads its records; rates are means over a window of the trainer's own."""

    needles = ("[batch=",)

    def __init__(self) -> None:
        self._steps = Steps()
        self._open: tuple[int, float | None] | None = None
        self._values: dict[str, Reading] = {}
        self._lines = 0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read a header."""
        if (head := _HEAD.search(line.text)) is not None:
            self._open, self._values, self._lines = (int(head[1]), line.time), {}, 0
        return []

    @property
    def is_open(self) -> bool:
        """Whether a record has begun."""
        return self._open is not None

    def goes_on(self, line: Line) -> bool:
        """Take a metric of the record that is open."""
        self._lines += 1
        found = _METRIC.search(line.text)
        if self._open is None or found is None or self._lines > _MOST_LINES:
            return False
        signal = "learning_rate" if _RATE.fullmatch(found[2]) else _SIGNALS.get(found[2])
        if signal is not None and (value := number(found[3])) is not None:
            self._values[signal] = value
        return True

    def complete(self) -> Sequence[Finding]:
        """Give the step that was open, if it had anything to say."""
        step, self._open = self._open, None
        return [self._steps.step(step[0], self._values, step[1])] if step and self._values else []
