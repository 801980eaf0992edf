"""Steps of single ranks become frames of a node: complete where all ranks came in time, the late ones in a second."""

from collections.abc import Iterable, Iterator, Mapping, Set

from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.rank_file import Line, Source
from streams.agents.tail import Mark

Attempt = tuple[str, int]


class Assembled(Struct, frozen=True):
    """What the ranks of a node wrote of one step; the fields are those of `schemas.telemetry.StepFrame`."""

    job: str
    attempt: int
    step: int
    time: float
    ranks: list[int]
    values: dict[str, list[Reading]]
    job_values: dict[str, Reading]


class _Open(Struct):
    """A step that is being waited for; `since` is the reader's clock at its first line."""

    since: float
    lines: dict[int, tuple[Line, Mark]]


class Assembler:
    """Puts lines of one step together.

    Args:
        linger: seconds to wait for the other ranks after the first line of a step was read.
    """

    def __init__(self, linger: float) -> None:
        self._linger = linger
        self._open: dict[tuple[str, int, int], _Open] = {}

    def add(self, source: Source, line: Line, mark: Mark, now: float) -> None:
        """Take the line of a finished step; a rank's second line of the same step replaces its first."""
        key = (source.job, source.attempt, line.s)
        step = self._open.setdefault(key, _Open(now, {}))
        step.lines[source.rank] = (line, mark)

    def take(self, now: float, expected: Mapping[Attempt, Set[int]]) -> list[Assembled]:
        """Give the steps that are complete or have waited long enough, in order.

        Args:
            now: the reader's clock, as in `add`.
            expected: the ranks known of each attempt.
        """
        due = sorted(
            key
            for key, step in self._open.items()
            if now - step.since >= self._linger or expected.get(key[:2], frozenset()) <= step.lines.keys()
        )
        return [_assemble(key, self._open.pop(key)) for key in due]

    def take_all(self) -> list[Assembled]:
        """Give everything, complete or not."""
        return [_assemble(key, self._open.pop(key)) for key in sorted(self._open)]

    def pending(self) -> Iterator[Mark]:
        """Give the lines that no step was made of yet."""
        return (mark for step in self._open.values() for _, mark in step.lines.values())


def _assemble(key: tuple[str, int, int], step: _Open) -> Assembled:
    ranks = sorted(step.lines)
    lines = [step.lines[rank][0] for rank in ranks]
    job_values: dict[str, Reading] = {}
    for line in reversed(lines):  # where several ranks speak for the job, the lowest is heard
        job_values.update(line.j)
    return Assembled(
        job=key[0],
        attempt=key[1],
        step=key[2],
        time=max(line.t for line in lines),
        ranks=ranks,
        values={name: [line.v.get(name) for line in lines] for name in _names(lines)},
        job_values=job_values,
    )


def _names(lines: Iterable[Line]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line.v))
