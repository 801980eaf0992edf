"""DeepSpeed: speed and steps of its timer, skipped steps of the loss scaler, memory pressure, saves."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_TIMER = re.compile(
    r"(?:global_step=|\] {1,40}\d{1,15}/)(\d{1,15}), (?:RunningAvg)?SamplesPerSec=([^,]+)"
    r"(?:, CurrSamplesPerSec=([^,\s]+))?"
)
_LOG = re.compile(r"step=(\d+), skipped=(\d+), lr=\[(?:np\.float\d\d\()?([^,\])]*)")
_PIPELINE = re.compile(r"steps: (\d{1,15}) loss: (\S+) iter time \(s\): ([\d.]{1,20}) samples/sec: ([\d.]{1,20})")
_OVERFLOW = re.compile(
    r"(?:OVERFLOW!|Overflow detected\.).{0,200}?Attempted loss scale: "
    r"([\d.e+]+), (?:reducing to ([\d.e+]+)|but hysteresis)"
)
_FLUSHES = re.compile(r"(\d{1,15}) pytorch allocator cache flushes since last step")
_SAVED = re.compile(r"Checkpoint (?:global_step)?(\d+) is ready now")
_SAVE = re.compile(r"Checkpoint (?:global_step)?(\d+) is about to be saved|Saving model checkpoint: ")


class DeepSpeed:
    """Reads its lines; those without a step of their own speak of the last step printed."""

    needles = (
        "SamplesPerSec=",
        "OVERFLOW!",
        "Overflow detected. Skip",
        "(s): ",
        "kipped=",
        "ytorch allocator cache",
        "Checkpoint global",
    )

    def __init__(self) -> None:
        self._steps, self._logs = Steps(), Steps()
        self._skipped = 0.0
        self._saving: tuple[int, float] | None = None
        self._last = 0

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        text = line.text
        if found := _TIMER.search(text):
            return [self._timer(found, line)]
        if found := _LOG.search(text):
            return [self._log(found, line)]
        if found := _OVERFLOW.search(text):
            scale = number(found[2] or found[1])
            return [LoggedStep(step=self._last, values={"skipped": 1.0, "loss_scale": scale}, time=line.time)]
        if found := _PIPELINE.search(text):
            return [self._pipeline(found, line)]
        if found := _FLUSHES.search(text):
            return [LoggedStep(step=self._last, values={"allocator_flushes": float(found[1])}, time=line.time)]
        if found := _SAVED.search(text):
            return self._saved(int(found[1]), line)
        if found := _SAVE.search(text):
            step = int(found[1]) if found[1] else self._last
            self._saving = (step, line.moment)
            return [Happening(event="checkpoint.begin", data={"step": step}, text=text, time=line.time)]
        return None if "SamplesPerSec=" in text or "OVERFLOW!" in text else []

    def _timer(self, found: re.Match[str], line: Line) -> LoggedStep:
        self._last = int(found[1])
        values: dict[str, Reading] = {"samples_per_second_mean": number(found[2])}
        if found[3]:
            values["samples_per_second"] = number(found[3])
        return self._steps.step(self._last, values, line.time)

    def _saved(self, step: int, line: Line) -> Sequence[Finding]:
        """Take the end of a save, which every rank prints: the first one counts."""
        begun, self._saving = self._saving, None
        if begun is None or begun[0] != step:
            return []
        data: dict[str, int | float] = {"step": step}
        if (spent := line.moment - begun[1]) > 0:
            data["seconds"] = data["pause_seconds"] = round(spent, 3)
        return [Happening(event="checkpoint.end", data=data, time=line.time)]

    def _pipeline(self, found: re.Match[str], line: Line) -> LoggedStep:
        self._last = int(found[1])
        values: dict[str, Reading] = {
            "loss": number(found[2]),
            "step_seconds": float(found[3]),
            "samples_per_second": float(found[4]),
        }
        return self._steps.step(self._last, values, line.time, mean=True)

    def _log(self, found: re.Match[str], line: Line) -> LoggedStep:
        """The count of skipped steps grows; a flag is raised where it grew since the line before."""
        self._last, skipped = int(found[1]), float(found[2])
        grew, self._skipped = skipped > self._skipped, skipped
        rate = number(found[3])
        values: dict[str, Reading] = {} if rate is None else {"learning_rate": rate}
        values["skipped"] = float(grew)
        return self._logs.step(self._last, values, line.time)
