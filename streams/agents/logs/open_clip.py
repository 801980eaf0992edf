"""open_clip: one line per so many batches, with the seconds of data and batch; unreadable samples as warnings."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading, is_finite
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_EPOCH = re.compile(r"Train Epoch: (\d+) \[ *([\d,]+)/([\d,]+)")
_FIELD = re.compile(r"(Data \(t\)|Batch \(t\)|LR|Loss): *([-\d.e+naif]+)(?:, ([\d.]+)/s)?")
_BAD_SAMPLE = re.compile(r"Handling webdataset error \((.*)\)\. Ignoring")
_SIGNALS = {"Data (t)": "loader_seconds", "Batch (t)": "step_seconds", "LR": "learning_rate", "Loss": "loss"}


class OpenClip:
    """Reads its lines; the step is the samples seen over the batch, which its own rate and time tell."""

    needles = ("Train Epoch:", "Handling webdataset")

    def __init__(self) -> None:
        self._steps = Steps()
        self._batch = 0.0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _BAD_SAMPLE.search(line.text):
            data = {"level": "warning", "what": "unreadable sample"}
            return [Happening(event="log.line", data=data, text=found[1], time=line.time)]
        head = _EPOCH.search(line.text)
        if head is None:
            return None
        values: dict[str, Reading] = {"epoch": float(head[1])}
        for name, value, rate in _FIELD.findall(line.text):
            values[_SIGNALS[name]] = number(value)
            if rate:
                values["samples_per_second"] = float(rate)
        step = self._step_of(head, values)
        return None if step is None else [self._steps.step(step, values, line.time)]

    def _step_of(self, head: re.Match[str], values: dict[str, Reading]) -> int | None:
        """Samples of one batch do not change: the first line's rate and time tell them well enough to round."""
        seen, each = number(head[2]) or 0.0, number(head[3]) or 0.0
        if not self._batch:
            batch = (values.get("samples_per_second") or 0.0) * (values.get("step_seconds") or 0.0)
            self._batch = float(round(batch)) if is_finite(batch) else 0.0
        if self._batch <= 0:
            return None
        step = (int(head[1]) * each + seen) / self._batch
        return int(step) if is_finite(step) else None
