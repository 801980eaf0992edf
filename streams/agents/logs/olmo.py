"""OLMo and OLMo-core: a header with the step, then one metric per indented line until one that is not."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_HEAD = re.compile(r"\[step=(\d+)/\d+")
_METRIC = re.compile(r"(?:^|[\]:|)]| F) {2,}([A-Za-z][\w/()@%+ .-]*?)=(\S+)\s*$")
_DEAD_LOADER = re.compile(r"generator thread (data thread \d+) failed")
_SIGNALS = {
    "train/CrossEntropyLoss": "loss",
    "optim/total_grad_norm": "grad_norm",
    "optim/learning_rate_group0": "learning_rate",
    "throughput/device/tokens_per_second": "tokens_per_second_per_gpu",
    "throughput/device/batches_per_second": "steps_per_second_mean",
    "System/Peak GPU Memory (MB)": "hbm_peak_bytes",
    "train/CE loss": "loss",
    "optim/total grad norm": "grad_norm",
    "optim/LR (group 0)": "learning_rate",
    "throughput/device/TPS": "tokens_per_second_per_gpu",
    "throughput/device/BPS": "steps_per_second_mean",
    "throughput/device/data loading (s)": "loader_seconds",
}
_FACTORS = {"hbm_peak_bytes": 1e6}
_EVALUATED = re.compile(r"eval/(?:lm/)?([^/]+)/(?:CrossEntropyLoss|CE loss)")
_MOST_LINES = 500


class Olmo:
    """Reads its records; some metrics are missing on some steps."""

    needles = ("[step=", "OLMoThreadError")

    def __init__(self) -> None:
        self._steps = Steps()
        self._open: tuple[int, float | None] | None = None
        self._values: dict[str, Reading] = {}
        self._lines = 0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read a header, or the death of a loader's thread."""
        if found := _DEAD_LOADER.search(line.text):
            data = {"signal": "exception", "rank": line.rank, "what": found[1]}
            return [Happening(event="worker.killed", data=data, text=line.text, time=line.time)]
        head = _HEAD.search(line.text)
        if head is None:
            return None
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
        signal = _SIGNALS.get(found[1])
        value = number(found[2])
        if signal is not None and value is not None:
            self._values[signal] = value * _FACTORS.get(signal, 1.0)
        elif value is not None and (of := _EVALUATED.fullmatch(found[1])):
            self._values[f"valid_loss.{of[1]}"] = value
        return True

    def complete(self) -> Sequence[Finding]:
        """Give the step that was open, if it had anything to say."""
        step, self._open = self._open, None
        return [self._steps.step(step[0], self._values, step[1])] if step and self._values else []
