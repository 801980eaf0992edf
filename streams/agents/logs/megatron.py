"""Megatron-LM and its forks: one line per logged iteration, validation, saves, and planned exits."""

import re
from collections.abc import Sequence
from datetime import tzinfo

from schemas.telemetry import Reading, is_finite
from streams.agents.finding import Finding, Happening, LoggedStep
from streams.agents.logs.line import Line, Steps
from streams.agents.logs.megatron_saves import Saves
from streams.agents.logs.moment import second
from streams.agents.logs.numbers import number

_HEAD = re.compile(r"iteration +(\d+)/ *\d+ *\|")
_VALIDATION = re.compile(
    r"valid(?:ation)? (?:loss|results) at iteration +(\d+)(?: +\[([^\]]+)\])?(?: on (\w+) set)?"
    r".*?\| *(?:lm loss value|lm_loss value|lm loss): *([^| ]+)"
)
_SAVING = re.compile(
    r"(saving|saved) checkpoint (?:at|from) iteration +(\d+)|(scheduled) an async checkpoint save at iteration +(\d+)"
)
_TIMER = re.compile(r"save-checkpoint: *([\d.]{1,20})")
_OVER_RANKS = re.compile(r"([a-z][a-z-]{2,40}) \.{3,80}: \( *([\d.]{1,20}), *([\d.]{1,20})\)")
"""A timer's line: the fastest and the slowest rank, in milliseconds."""
_TIMED = {"batch-generator": "loader_seconds", "optimizer": "optimizer_seconds"}
"""Timers whose slowest rank is the job's time; the others hold time spent waiting for other ranks."""
_EXIT = re.compile(r"\[exiting program (?:after ([\d.]+) minutes|at iteration \d+|after receiving \w+\.?)\]")
_MOST_PARTS = 6
_TOKENS, _SAMPLES = "consumed tokens", "consumed samples"
_SIGNALS = {
    "lm loss": ("loss", 1.0),
    "lm_loss": ("loss", 1.0),
    "grad norm": ("grad_norm", 1.0),
    "params norm": ("params_norm", 1.0),
    "learning rate": ("learning_rate", 1.0),
    "loss scale": ("loss_scale", 1.0),
    "global batch size": ("batch_size", 1.0),
    "elapsed time per iteration (ms)": ("step_seconds", 1e-3),
    "elapsed time per iteration (s)": ("step_seconds", 1.0),
    "throughput per GPU (TFLOP/s/GPU)": ("tflops", 1.0),
    "TFLOPs": ("tflops", 1.0),
    "approx flops per GPU": ("tflops", 1.0),
    "tokens/s/GPU": ("tokens_per_second_per_gpu", 1.0),
    "tokens per gpu per second (tgs)": ("tokens_per_second_per_gpu", 1.0),
    "samples per second": ("samples_per_second", 1.0),
    "tokens per GPU (tokens/s/GPU)": ("tokens_per_second_per_gpu", 1.0),
    "actual seqlen": ("sequence_length", 1.0),
    "number of skipped iterations": ("skipped", 1.0),
    "consumed tokens": (_TOKENS, 1.0),
    "consumed samples": (_SAMPLES, 1.0),
}
Column = tuple[int, str, str, float]
"""Which part of a line, how it begins, the signal it gives, and the factor to the signal's unit."""
_PLAIN = re.compile(
    r"(?: |\[(20\d\d-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,9})?\] )iteration +(\d{1,15})/ *\d{1,15} \|([^\n]{0,4000}\|)\n"
)
"""A whole line; one with any of the others in it may hold a second message."""
_FOREIGN = ("[", "{", "NVRM", "Watchdog")
_WHOLE = re.compile(r"\s*[-+]?[\d.,naifNAIF]+(?:[eE][-+]?\d+)?(?:/[-+\d.]+)?[\w/%]*\s*")
"""A number with a mean or a unit behind it; where a line was wrapped within one, and has a prefix, it is none."""
_OLDEST = re.compile(r" ([a-z][a-z ]{2,40}) (?=[-+.\dni])")
"""The name of a field before there were colons."""
_BEFORE = re.compile(r"samples/sec: ([\d.]{1,20}) \| $")
"""What GPT-NeoX prints before the iteration."""


class Megatron:
    """Reads the iterations; a line that was wrapped when it was pasted or printed is put together again."""

    needles = (
        "| consumed samples",
        "| lm loss",
        "| lm_loss",
        "| elapsed time per",
        "kpoint at iteration",
        "kpoint from iteration",
        "kpoint save at iteration",
        "kpoint: ",
        "....: (",
        "xiting program a",
    )

    def __init__(self) -> None:
        self._steps = Steps()
        self._columns: list[Column] = []
        self._width = 0
        self._printed: list[str] = []
        self._read: list[float] = []
        self._tokens: tuple[int, float] | None = None
        self._saves = Saves()
        self._open: list[str] = []
        self._first: Line | None = None

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Read one line; an iteration that does not end here is kept open."""
        head = _HEAD.search(line.text)
        if head is not None:
            if not line.text.rstrip().endswith("|"):
                self._open, self._first = [line.text], line
                return []
            return [self._iteration(head, line.text, line)]
        return self._other(line)

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:
        """Read whole iterations that have the fields of the one before, all of them plain numbers."""
        made: list[Finding] = []
        while found := _PLAIN.match(text, place):
            day, clock, part, step, fields = found.groups()
            time = second(f"{day}T{clock}", zone) if day else None
            if part and time is not None:
                time += float(f"0{part}")
            foreign = any(word in fields for word in _FOREIGN)
            values = None if foreign else self._plain(fields.split("|"))
            if values is None or (day and time is None):
                break
            made.append(self._made(int(step), values, time))
            place = found.end()
        return made, place

    def _plain(self, parts: list[str]) -> dict[str, Reading] | None:
        """Read the fields; what is printed as it was on the line before needs no reading again."""
        if len(parts) != self._width:
            return None
        printed, read = self._printed, self._read
        values: dict[str, Reading] = {}
        for index, (place, name, signal, factor) in enumerate(self._columns):
            part = parts[place]
            if part != printed[index]:
                if not part.startswith(name):
                    return None
                try:
                    read[index] = float(part[len(name) :]) * factor
                except ValueError:
                    return None
                printed[index] = part
            values[signal] = read[index]
        return values

    @property
    def is_open(self) -> bool:
        """Whether a record has begun."""
        return bool(self._open)

    def goes_on(self, line: Line) -> bool:
        """Take the rest of a wrapped iteration: it begins nothing of its own, and ends with a bar."""
        if not self._open or len(self._open) >= _MOST_PARTS or _HEAD.search(line.text) or "|" not in line.text:
            return False
        if self._open[-1].rstrip().endswith("|"):
            return False
        self._open.append(line.text)
        return True

    def complete(self) -> Sequence[Finding]:
        """Read the iteration that was open, whole or not."""
        if not self._open or self._first is None:
            return []
        text, line = "".join(self._open), self._first
        self._open, self._first = [], None
        head = _HEAD.search(text)
        return [self._iteration(head, text, line)] if head else []

    def _iteration(self, head: re.Match[str], text: str, line: Line) -> LoggedStep:
        parts = text[head.end() :].split("|")
        values = self._plain(parts)
        if values is None:
            values = self._values(parts)
        if head.start() > 1 and (before := _BEFORE.search(text, 0, head.start())):
            values["samples_per_second"] = float(before[1])
        return self._made(int(head[1]), values, line.time if head.start() > 1 else None)

    def _made(self, step: int, values: dict[str, Reading], time: float | None) -> LoggedStep:
        if "skipped" in values:
            values["skipped"] = float((values["skipped"] or 0.0) > 0)
        self._count_tokens(step, values.pop(_TOKENS, None), values.pop(_SAMPLES, None), values)
        return self._steps.step(step, values, time, mean=True)

    def _values(self, parts: list[str]) -> dict[str, Reading]:
        """Read the fields; one run prints the same ones in the same order, which makes them quick to read."""
        if len(parts) != self._width or not all(parts[place].startswith(name) for place, name, _, _ in self._columns):
            self._columns, self._width = _columns(parts), len(parts)
            self._printed, self._read = [""] * len(self._columns), [0.0] * len(self._columns)
        values: dict[str, Reading] = {}
        for place, name, signal, factor in self._columns:
            printed = parts[place][len(name) :]
            try:
                values[signal] = float(printed) * factor
            except ValueError:
                if _WHOLE.fullmatch(printed) and (value := number(printed)) is not None:
                    values[signal] = value * factor
        return values

    def _count_tokens(self, step: int, total: Reading, samples: Reading, values: dict[str, Reading]) -> None:
        """Tell the tokens of one step from the growth of the total; on the first line, from its mean per sample."""
        batch = values.get("batch_size")
        if total is None or not samples or not batch:
            return
        tokens = total / samples * batch
        if self._tokens is not None and step > self._tokens[0] and total > self._tokens[1]:
            tokens = (total - self._tokens[1]) / (step - self._tokens[0])
        if not (is_finite(tokens) and is_finite(tokens / batch)):
            return
        self._tokens = (step, total)
        values["tokens"] = float(round(tokens))
        if "sequence_length" not in values:
            values["sequence_length"] = float(round(tokens / batch))

    def _other(self, line: Line) -> Sequence[Finding] | None:
        if found := _SAVING.search(line.text):
            return self._saves.told(found[1] or found[3], int(found[2] or found[4]), line)
        if found := _VALIDATION.search(line.text):
            of = found[2] or (found[3] if found[3] != "validation" else None)
            name = f"valid_loss.{of}" if of else "valid_loss"
            return [LoggedStep(step=int(found[1]), values={name: number(found[4])}, time=line.time)]
        if found := _TIMER.search(line.text):
            return self._saves.timed(float(found[1]) / 1e3, line)
        if found := _OVER_RANKS.search(line.text):
            return self._over_ranks(found[1], float(found[3]) / 1e3, line)
        if found := _EXIT.search(line.text):
            data: dict[str, Reading | str] = {"reason": "time_limit" if found[1] else "stopped", "exit_code": 0}
            if found[1]:
                data["minutes"] = number(found[1])
            return [Happening(event="attempt.ended", data=data, text=line.text, time=line.time)]
        unread = "loss at iteration" in line.text or "| elapsed time per iteration" in line.text
        return None if unread else []

    def _over_ranks(self, timer: str, seconds: float, line: Line) -> Sequence[Finding]:
        """Timers follow the line of their iteration, and are means over the same steps as that."""
        if timer == "save-checkpoint":
            return self._saves.timed(seconds, line)
        if timer not in _TIMED or self._steps.last < 0:
            return []
        values: dict[str, Reading] = {_TIMED[timer]: seconds}
        return [LoggedStep(step=self._steps.last, values=values, time=line.time)]


def _columns(parts: list[str]) -> list[Column]:
    """Find the fields that give a signal."""
    columns = []
    for place, part in enumerate(parts):
        name, colon, _ = part.partition(":")
        if not colon:
            oldest = _OLDEST.match(part)
            name = oldest[0] if oldest else ""
        if name.strip() in _SIGNALS:
            columns.append((place, name + colon, *_SIGNALS[name.strip()]))
    return columns
