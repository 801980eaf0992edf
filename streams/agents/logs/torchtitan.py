"""torchtitan: `step: 22  loss:  2.91027  grad_norm:  0.5926  memory: ...  tps: 7,094  tflops: 0.51  mfu: 0.16%`."""

import re
from collections.abc import Sequence
from datetime import tzinfo

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.moment import second
from streams.agents.logs.numbers import number

_STEP = re.compile(r"step: *(\d+) +loss: ")
_FIELD = re.compile(r"\b(loss|grad_norm|tps|tflops|mfu|memory|validate_loss|lr): *(\S+)")
_SAVED = re.compile(r"Finished saving the checkpoint.{0,200}?in ([\d.]{1,20}) seconds")
_COLLECTED = re.compile(r"\[GC\] .{0,200}?\b([\d.]{1,20}) seconds")
_PLAIN = re.compile(
    r"(?:\[rank(\d{1,7}+)\]:)?(?:\[titan\] )?(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d),(\d\d\d) - root - INFO - "
    r"step: *+(\d{1,15}+)  loss: ++([\d.]{1,30}+)  (?:grad_norm: *+([\d.]{1,30}+)  )?"
    r"memory: *+([\d.]{1,20}+)GiB\([\d.]{1,20}+%\)  tps: (\d[\d,]{0,19}+)  tflops: ([\d.]{1,20}+)  "
    r"mfu: ([\d.]{1,20}+)%\n"
)
"""A whole line of the usual kind."""
Data = dict[str, str | int | float]
_SIGNALS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "tps": "tokens_per_second_per_gpu",
    "tflops": "tflops",
    "mfu": "mfu",
    "memory": "hbm_peak_bytes",
    "lr": "learning_rate",
}


class Torchtitan:
    """Reads the steps of the first rank that speaks: where every rank prints, the others say the same."""

    needles = (")  tps: ", "(or staging if async", "[GC] ")

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
        if "Saving the checkpoint" in line.text:
            data = {"step": max(0, self._steps.last)}
            return self._once(line, Happening(event="checkpoint.begin", data=data, time=line.time))
        if found := _COLLECTED.search(line.text):
            data = {"level": "info", "seconds": float(found[1]), "what": "garbage collection"}
            return self._once(line, Happening(event="log.line", data=data, text=line.text.strip(), time=line.time))
        return None if "step:" in line.text and "loss:" in line.text else []

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:
        """Read lines of the usual kind."""
        made: list[Finding] = []
        while found := _PLAIN.match(text, place):
            rank, stamp, part, step, *printed = found.groups()
            if rank is None or self._speaker == int(rank):
                begin, values = second(stamp, zone), _plain(*printed)
                if begin is None or values is None:
                    break
                made.append(self._steps.step(int(step), values, begin + float(f"0.{part}")))
            elif self._speaker is None:
                break  # who speaks is settled by the other way of reading
            place = found.end()
        return made, place

    def _step(self, found: re.Match[str], line: Line) -> Sequence[Finding]:
        if not self._speaks(line):
            return []
        values: dict[str, Reading] = {
            _SIGNALS[name]: value
            for name, text in _FIELD.findall(line.text, found.start())
            if name in _SIGNALS and (value := number(text)) is not None
        }
        return [self._steps.step(int(found[1]), values, line.time)]

    def _once(self, line: Line, happening: Happening) -> Sequence[Finding]:
        return [happening] if self._speaks(line) else []

    def _speaks(self, line: Line) -> bool:
        rank = line.rank
        if self._speaker is None:
            self._speaker = rank
        return rank in (None, self._speaker)


def _plain(
    loss: str, gradient: str | None, memory: str, speed: str, tflops: str, mfu: str
) -> dict[str, Reading] | None:
    """Give the values of a whole line; None where one is no number."""
    try:
        values: dict[str, Reading] = {"loss": float(loss)}
        if gradient is not None:
            values["grad_norm"] = float(gradient)
        values["hbm_peak_bytes"] = float(memory) * 2.0**30
        values["tokens_per_second_per_gpu"] = float(speed.replace(",", ""))
        values["tflops"] = float(tflops)
        values["mfu"] = float(mfu) * 0.01
    except ValueError:
        return None
    return values
