"""A line of a log, and what a format is: the part that knows one way of printing."""

import re
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from typing import Protocol, runtime_checkable

from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Finding, LoggedStep
from streams.agents.logs.moment import moment

_RANK = re.compile(r"(?:\[rank-?|Rank )(\d{1,7})(?=[\]/])")
_SINCE_BOOT = re.compile(r"[^\[]{0,40}\[ *(\d+\.\d{6})\]")
_MOST_BETWEEN = 100_000
"""Steps between two lines of a log, beyond which it began anew."""


class Line(Struct):
    """One message.

    Attributes:
        text: without colours and line end, with whatever prefix it has.
        arrived: Unix seconds at which it was read.
        zone: of times that do not name theirs.
        booted: Unix seconds at which the node started, for lines that count from there; 0 where it is not known.
    """

    text: str
    arrived: float
    zone: tzinfo
    booted: float = 0.0

    @property
    def time(self) -> float | None:
        """Unix seconds printed on it; None where there are none."""
        printed = moment(self.text, self.arrived, self.zone)
        if printed is None and self.booted and (found := _SINCE_BOOT.match(self.text)):
            return self.booted + float(found[1])
        return printed

    @property
    def moment(self) -> float:
        """Unix seconds printed on it, else those of its arrival."""
        printed = self.time
        return self.arrived if printed is None else printed

    @property
    def rank(self) -> int | None:
        """The global rank named on it, the one nearest to the message; a number that counts within a node is none."""
        if "ank" not in self.text:
            return None
        named = _RANK.findall(self.text, 0, 400)
        return int(named[-1]) if named else None


class Format(Protocol):
    """Reads one way of printing; holds what has to be known of earlier lines of the same log."""

    @property
    def needles(self) -> tuple[str, ...]:
        """A line that has none of them is none of this format.

        They are looked for in everything that is printed: let them begin with what is rare in prose.
        """
        ...

    def read(self, line: Line) -> Sequence[Finding] | None:
        """Give what a line says; None where it has a needle and could not be read."""
        ...


@runtime_checkable
class Flushing(Protocol):
    """A format that keeps something until the log stands still."""

    def flush(self) -> Sequence[Finding]:
        """Give it."""
        ...


@runtime_checkable
class Holding(Protocol):
    """A format whose records go over several lines."""

    @property
    def is_open(self) -> bool:
        """Whether a record has begun and may go on."""
        ...

    def goes_on(self, line: Line) -> bool:
        """Tell whether a line belongs to the record that is open, and keep it."""
        ...

    def complete(self) -> Sequence[Finding]:
        """Close the open record and give what it says."""
        ...


@runtime_checkable
class Running(Protocol):
    """A format that reads line after line of the plainest kind at one go, for logs of nothing else are long."""

    def run(self, text: str, place: int, zone: tzinfo) -> tuple[list[Finding], int]:
        """Read lines from a place on, up to the first one that is not of that kind; tell the place after them.

        What it says of a line is what `read` would say, and within the bounds of a record.
        """
        ...


class Steps:
    """Makes steps of one format, and knows how many steps lie between two of its lines."""

    def __init__(self) -> None:
        self.last = -1

    def step(self, step: int, values: dict[str, Reading], time: float | None, *, mean: bool = False) -> LoggedStep:
        """Make one; `mean` says that the values are means over the steps since the line before."""
        between = step - self.last if self.last >= 0 else 1
        every = between if 0 < between <= _MOST_BETWEEN else 1
        self.last = step
        return LoggedStep(step=step, values=values, time=time, every=every, mean=mean and every > 1)

    def row(self, steps: Iterable[tuple[int, dict[str, Reading]]]) -> list[Finding]:
        """Make many in a row, of lines without a time; the same as one by one and quicker."""
        made: list[Finding] = []
        last = self.last
        for step, values in steps:
            between = step - last if last >= 0 else 1
            last = step
            every = between if 0 < between <= _MOST_BETWEEN else 1
            made.append(LoggedStep(step=step, values=values, every=every))
        self.last = last
        return made
