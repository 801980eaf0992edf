"""nanoGPT and nanochat: a step per line, evaluations apart."""

import re
from collections.abc import Sequence
from datetime import tzinfo

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_EVALUATION = re.compile(r"step (\d+): train loss ([\d.naif+-]+), val loss ([\d.naif+-]+)")
_ITERATION = re.compile(r"iter (\d+): loss ([\d.naif+-]+), time ([\d.]+)ms(?:, mfu (-?[\d.]+)%)?")
_PLAIN = re.compile(
    r"iter (\d{1,15}): loss ([\d.]{1,30}), time ([\d.]{1,20})ms(?:, mfu (-?[\d.]{1,20})%)?\n"
)  # fmt: skip
"""A whole line of the usual kind."""
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
            return [self._iteration(int(found[1]), number(found[2]), float(found[3]), found[4], line.time)]
        if found := _EVALUATION.search(line.text):
            self._evaluated = int(found[1])
            return [LoggedStep(step=self._evaluated, values={"valid_loss": number(found[3])}, time=line.time)]
        found = _CHAT.search(line.text)
        step = [self._chat(found, line)] if found else []
        return [*step, *(_collection(each, line) for each in _COLLECTED.finditer(line.text))]

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:  # noqa: ARG002 - none has a time
        """Read iterations that are printed alone on their lines."""
        made: list[Finding] = []
        while found := _PLAIN.match(text, place):
            step, loss, milliseconds, mfu = found.groups()
            try:
                made.append(self._iteration(int(step), float(loss), float(milliseconds), mfu, None))
            except ValueError:
                break
            place = found.end()
        return made, place

    def _iteration(
        self, step: int, loss: Reading, milliseconds: float, mfu: str | None, time: float | None
    ) -> LoggedStep:
        values: dict[str, Reading] = {"loss": loss}
        if not self._first and step != self._evaluated:
            values["step_seconds"] = milliseconds / 1e3
            if mfu and (share := float(mfu)) >= 0:
                values["mfu"] = share / 100
        self._first = False
        return self._steps.step(step, values, time)

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
