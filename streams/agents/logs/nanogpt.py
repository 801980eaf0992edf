"""nanoGPT, what was made of it, and nanochat: a step per line, evaluations apart."""

import re
from collections.abc import Sequence
from datetime import tzinfo

import msgspec
from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.numbers import number

_EVALUATION = re.compile(r"step (\d+): train loss ([\d.naif+-]+), val loss ([\d.naif+-]+)")
_ITERATION = re.compile(r"iter (\d+): loss ([\d.naif+-]+), time ([\d.]+)ms(?:, mfu (-?[\d.]+)%)?")
_NUMBER = r"(?:0|[1-9]\d{0,14}+)(?:\.\d{1,20}+)?+"
_PLAIN = re.compile(
    rf"(?:iter (?:0|[1-9]\d{{0,14}}+): loss {_NUMBER}, time {_NUMBER}ms, mfu -?+{_NUMBER}%\n){{1,500}}+",
    re.ASCII,
)
"""Whole lines of the usual kind; their numbers are spelled as JSON spells them."""
_CHAT = re.compile(r"step +(\d{1,15})(?:/\d+ \([^)]*\))? \| loss: (\S+) \| (.*)")
_MODDED = re.compile(
    r"step:(\d{1,15})/\d+ (?:(train|val)_loss:([\d.naif+-]+) )?train_time:[\d.]+m?s step_avg:([\d.]+|nan)ms"
)
_FIELD = re.compile(r"([a-z][\w/]{1,20}):? +([^\s|]{1,40})")
_CHATTED = (
    ("dt", "step_seconds", 1.0),
    ("tok/sec", "tokens_per_second", 1.0),
    ("mfu", "mfu", 0.01),
    ("bf16_mfu", "mfu", 0.01),
    ("norm", "grad_norm", 1.0),
    ("lr", "learning_rate", 1.0),
)
_COLLECTED = re.compile(r"\[GC rank(\d+)\] gen2: ([\d.]+)ms collected (\d+)")


class _Iteration(Struct, array_like=True, gc=False):  # it holds numbers: no circle goes through it
    """A line of the usual kind; `mfu` in percent."""

    step: int
    loss: float
    milliseconds: float
    mfu: float


_iterations = msgspec.json.Decoder(list[_Iteration])


class NanoGpt:
    """Reads both; time and utilisation of an iteration that evaluated hold the evaluation too and are left out."""

    needles = (", time ", ", val loss ", "| lrm:", "| tok/sec:", "_avg:", "[GC rank")

    def __init__(self) -> None:
        self._steps = Steps()
        self._evaluated = -1
        self._first = True

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _ITERATION.search(line.text):
            at = int(found[1])
            return [self._steps.step(at, self._values(at, number(found[2]), float(found[3]), found[4]), line.time)]
        if found := _EVALUATION.search(line.text):
            self._evaluated = int(found[1])
            return [LoggedStep(step=self._evaluated, values={"valid_loss": number(found[3])}, time=line.time)]
        if found := _MODDED.search(line.text):
            return [self._modded(found, line)]
        found = _CHAT.search(line.text)
        step = [self._chat(found, line)] if found else []
        return [*step, *(_collection(each, line) for each in _COLLECTED.finditer(line.text))]

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:  # noqa: ARG002 - none has a time
        """Read iterations that are printed alone on their lines."""
        found = None if self._first else _PLAIN.match(text, place)
        if found is None:
            return [], place
        rows, evaluated = _rows(found[0]), self._evaluated
        values: list[dict[str, Reading]] = [
            {"loss": row.loss, "step_seconds": row.milliseconds / 1e3, "mfu": row.mfu / 100}
            if row.mfu >= 0 and row.step != evaluated
            else self._values(row.step, row.loss, row.milliseconds, row.mfu)
            for row in rows
        ]
        return self._steps.row(zip([row.step for row in rows], values, strict=True)), found.end()

    def _values(self, step: int, loss: Reading, milliseconds: float, mfu: str | float | None) -> dict[str, Reading]:
        values: dict[str, Reading] = {"loss": loss}
        if not self._first and step != self._evaluated:
            values["step_seconds"] = milliseconds / 1e3
            if mfu is not None and (share := float(mfu)) >= 0:
                values["mfu"] = share / 100
        self._first = False
        return values

    def _modded(self, found: re.Match[str], line: Line) -> LoggedStep:
        """Read a line of the speed runs; its time is the mean since the start."""
        if found[2] == "val":
            return LoggedStep(step=int(found[1]), values={"valid_loss": number(found[3])}, time=line.time)
        values: dict[str, Reading] = {"loss": number(found[3])} if found[2] else {}
        if found[4] != "nan":
            values["step_seconds_mean"] = float(found[4]) / 1e3
        return self._steps.step(int(found[1]), values, line.time)

    def _chat(self, found: re.Match[str], line: Line) -> LoggedStep:
        fields = dict(_FIELD.findall(found[3]))
        values: dict[str, Reading] = {"loss": number(found[2])}
        for name, signal, factor in _CHATTED:
            if (value := number(fields.get(name, ""))) is not None:
                values[signal] = value * factor
        return self._steps.step(int(found[1]), values, line.time)


def _rows(lines: str) -> list[_Iteration]:
    r"""Read whole lines by rewriting them as JSON, which is read much faster than a line is.

    >>> _rows("iter 7: loss 2.5, time 13.80ms, mfu -100.00%\n")
    [_Iteration(step=7, loss=2.5, milliseconds=13.8, mfu=-100.0)]
    """
    inner = lines[len("iter ") : -len("%\n")].replace(": loss ", ",").replace(", time ", ",")
    return _iterations.decode("[[" + inner.replace("ms, mfu ", ",").replace("%\niter ", "],[") + "]]")


def _collection(found: re.Match[str], line: Line) -> Happening:
    data = {"level": "info", "rank": int(found[1]), "seconds": float(found[2]) / 1e3, "what": "garbage collection"}
    return Happening(event="log.line", data=data, text=found[0], time=line.time)
