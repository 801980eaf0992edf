"""torchtitan: `step: 22  loss:  2.91027  grad_norm:  0.5926  memory: ...  tps: 7,094  tflops: 0.51  mfu: 0.16%`."""

import re
from collections.abc import Sequence
from datetime import tzinfo

import msgspec
from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.moment import second
from streams.agents.logs.numbers import number

_STEP = re.compile(r"(validate )?step: *(\d+) +loss: +(\S+)")
_FIELD = re.compile(r"\b(loss|grad_norm|tps|wps|tflops|mfu|memory|validate_loss|lr): *(\S+)")
_SAVING = re.compile(r"Saving the checkpoint|Saving a full checkpoint at last step, step (\d{1,15})")
_SAVED = re.compile(r"Finished saving the checkpoint.{0,200}?in ([\d.]{1,20}) seconds")
_COLLECTED = re.compile(r"\[GC\] .{0,200}?\b([\d.]{1,20}) seconds")
_NUMBER = r"((?:0|[1-9]\d{0,14}+)(?:\.\d{1,20}+)?+)"
_PLAIN = re.compile(
    r"(?:\[rank(\d{1,7}+)\]:)?(?:\[titan\] )?(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d),(\d\d\d) - "
    r"(?:root|[\w.]{1,100}+) - INFO - "
    rf"step: *+(0|[1-9]\d{{0,14}}+)  loss: ++{_NUMBER}  (?:grad_norm: *+{_NUMBER}  )?memory: *+{_NUMBER}GiB"
    rf"\([\d.]{{1,20}}+%\)  tps: (0|[1-9][\d,]{{0,19}}+)  tflops: {_NUMBER}  mfu: {_NUMBER}%\n",
    re.ASCII,
)
"""A whole line of the usual kind; its numbers are spelled as JSON spells them, but for the commas of one."""
Data = dict[str, str | int | float]
_SIGNALS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "tps": "tokens_per_second_per_gpu",
    "wps": "tokens_per_second_per_gpu",
    "tflops": "tflops",
    "mfu": "mfu",
    "memory": "hbm_peak_bytes",
    "lr": "learning_rate",
}


class _Row(Struct, array_like=True, gc=False):  # it holds numbers: no circle goes through it
    """A line of the usual kind, as it is printed: memory in GiB, `mfu` in percent."""

    step: int
    loss: float
    gradient: float | None
    memory: float
    speed: float
    tflops: float
    mfu: float


_rows = msgspec.json.Decoder(list[_Row])


class Torchtitan:
    """Reads the steps of the first rank that speaks: where every rank prints, named or not, the others say the same."""

    needles = (")  tps: ", ")  wps: ", "(or staging if async", "Saving a full checkpoint", "[GC] ")

    def __init__(self) -> None:
        self._steps = Steps()
        self._speaker: int | None = None

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line."""
        if found := _STEP.search(line.text):
            return self._step(found, line)
        if found := _SAVED.search(line.text):
            seconds = float(found[1])
            data: Data = {"step": max(0, self._steps.last), "seconds": seconds, "pause_seconds": seconds}
            return self._once(line, Happening(event="checkpoint.end", data=data, time=line.time))
        if found := _SAVING.search(line.text):
            data = {"step": int(found[1]) if found[1] else max(0, self._steps.last)}
            return self._once(line, Happening(event="checkpoint.begin", data=data, time=line.time))
        if found := _COLLECTED.search(line.text):
            data = {"level": "info", "seconds": float(found[1]), "what": "garbage collection"}
            return self._once(line, Happening(event="log.line", data=data, text=line.text.strip(), time=line.time))
        return None if "step:" in line.text and "loss:" in line.text else []

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:
        """Read lines of the usual kind."""
        rows: list[str] = []
        times: list[float] = []
        speaker = None if self._speaker is None else str(self._speaker)
        while found := _PLAIN.match(text, place):
            rank, stamp, part, step, loss, gradient, memory, speed, tflops, mfu = found.groups()
            if rank is None or rank == speaker:
                if (begin := second(stamp, zone)) is None:
                    break
                times.append(begin + int(part) / 1000)
                rows.append(f"[{step},{loss},{gradient or 'null'},{memory},{speed.replace(',', '')},{tflops},{mfu}]")
            elif speaker is None or (rank[0] == "0" and rank != "0"):
                break  # who speaks is settled by the other way of reading
            place = found.end()
        printed = zip(_rows.decode(f"[{','.join(rows)}]"), times, strict=True)  # many at once are read the fastest
        steps = self._steps
        return [steps.step(row.step, _values(row), time) for row, time in printed if row.step != steps.last], place

    def _step(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        step = int(found[2])
        if not self._speaks(line):
            return []
        if found[1]:
            return [LoggedStep(step=step, values={"valid_loss": number(found[3])}, time=line.time)]
        if step == self._steps.last:
            return []
        values: dict[str, Reading] = {
            _SIGNALS[name]: value
            for name, text in _FIELD.findall(line.text, found.start())
            if name in _SIGNALS and (value := number(text)) is not None
        }
        return [self._steps.step(step, values, line.time)]

    def _once(self, line: Line, happening: Happening) -> Sequence[Finding]:
        return [happening] if self._speaks(line) else []

    def _speaks(self, line: Line) -> bool:
        rank = line.rank
        if self._speaker is None:
            self._speaker = rank
        return rank in (None, self._speaker)


def _values(row: _Row) -> dict[str, Reading]:
    values: dict[str, Reading] = {"loss": row.loss}
    if row.gradient is not None:
        values["grad_norm"] = row.gradient
    values["hbm_peak_bytes"] = row.memory * 2.0**30
    values["tokens_per_second_per_gpu"] = row.speed
    values["tflops"] = row.tflops
    values["mfu"] = row.mfu * 0.01
    return values
