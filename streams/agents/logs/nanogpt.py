"""nanoGPT and nanochat: a step per line, evaluations apart."""

import re
from collections.abc import Sequence

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_EVALUATION = re.compile(r"step (\d+): train loss ([\d.naif+-]+), val loss ([\d.naif+-]+)")
_ITERATION = re.compile(r"iter (\d+): loss ([\d.naif+-]+), time ([\d.]+)ms(?:, mfu (-?[\d.]+)%)?")
_CHAT = re.compile(r"step (\d+)/\d+ \([^)]*\) \| loss: (\S+) \| (.*)")
_COLLECTED = re.compile(r"\[GC rank(\d+)\] gen2: ([\d.]+)ms collected (\d+)")


class NanoGpt:
    """Reads both; time and utilisation of an iteration that evaluated hold the evaluation too and are left out."""

    needles = (", time ", ", val loss ", "| lrm:", "[GC rank")

    def __init__(self) -> None:
        self._steps = Steps()
        self._evaluated = -1
        self._first = True

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _ITERATION.search(line.text):
            return [self._iteration(found, line)]
        if found := _EVALUATION.search(line.text):
            self._evaluated = int(found[1])
            return [LoggedStep(step=self._evaluated, values={"valid_loss": number(found[3])}, time=line.time)]
        found = _CHAT.search(line.text)
        step = [self._chat(found, line)] if found else []
        return [*step, *(_collection(each, line) for each in _COLLECTED.finditer(line.text))]

    def _iteration(self, found: re.Match[str], line: Line) -> LoggedStep:
        step = int(found[1])
        values: dict[str, Reading] = {"loss": number(found[2])}
        if not self._first and step != self._evaluated:
            values["step_seconds"] = float(found[3]) / 1e3
            if found[4] and float(found[4]) >= 0:
                values["mfu"] = float(found[4]) / 100
        self._first = False
        return self._steps.step(step, values, line.time)

    def _chat(self, found: re.Match[str], line: Line) -> LoggedStep:
        fields = dict(part.partition(": ")[::2] for part in found[3].split(" | "))
        values: dict[str, Reading] = {"loss": number(found[2])}
        wanted = (("dt", "step_seconds", 1.0), ("tok/sec", "tokens_per_second", 1.0), ("mfu", "mfu", 0.01))
        for name, signal, factor in wanted:
            if (value := number(fields.get(name, "").strip())) is not None:
                values[signal] = value * factor
        return self._steps.step(int(found[1]), values, line.time)


def _collection(found: re.Match[str], line: Line) -> Happening:
    data = {"level": "info", "rank": int(found[1]), "seconds": float(found[2]) / 1e3, "what": "garbage collection"}
    return Happening(event="log.line", data=data, text=found[0], time=line.time)
