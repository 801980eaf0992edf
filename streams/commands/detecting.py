"""`trainmaster detect`: detectors tried on any series of a CSV file."""

import csv
import itertools
import math
from pathlib import Path
from typing import Annotated

import typer

from detectors.catalogue import DETECTORS
from schemas.codec import Plain
from schemas.signals import Signal, signal_named
from streams.commands.output import fail, give, say, show
from streams.detecting import Reading, Said, Series
from streams.detecting import detect as look

CLOCKS = ("step", "time", "timestamp")


class BadTable(Exception):
    """The file is no table of readings."""


def detect(
    file: Annotated[Path, typer.Argument(help="CSV with a header, one series a column; an empty cell is absent.")],
    column: Annotated[list[str] | None, typer.Option(help="Columns to look at; all but the clock.")] = None,
    detector: Annotated[list[str] | None, typer.Option(help="Detectors to run; those that fit the signal.")] = None,
    signal: Annotated[str | None, typer.Option(help="What the columns mean: a name of the table of signals.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Give each row a score, 0..1.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the object of the contract.")] = False,
) -> None:
    """Try detectors on any series, strictly online: nothing after a row is known when it is judged."""
    names = list(dict.fromkeys(detector or ()))
    for name in names:
        if name not in DETECTORS:
            raise typer.BadParameter(f"there is no detector {name}; there are {', '.join(sorted(DETECTORS))}")
    try:
        series = read_table(file, column or ())
        found = look(series, names, _meaning(signal))
    except (OSError, UnicodeDecodeError) as fault:
        fail(f"{file}: {getattr(fault, 'strerror', None) or 'is no text'}")
    except (BadTable, ValueError) as fault:
        fail(f"{file}: {fault}")
    if as_json:
        give(_object(found, scores))
        return
    _tell(found)


def read_table(file: Path, wanted: list[str] | tuple[()]) -> Series:
    """Read the columns of a CSV file; a column of step numbers that grow is the clock of the rows.

    Raises:
        BadTable: no header, no such column, a row that is too long or too short, or a cell that is no number.
        OSError: the file cannot be read.
    """
    with file.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.reader(lines)
        header = next(reader, None)
        if not header:
            raise BadTable("no header")
        cells = [(reader.line_num, row) for row in reader if row]
    names = list(wanted) or [name for name in header if name.strip().lower() not in CLOCKS]
    unknown = [name for name in names if name not in header]
    if unknown or not names:
        raise BadTable(f"no column {', '.join(unknown) or 'but the clock'}; there are {', '.join(header)}")
    for line, row in cells:
        if len(row) != len(header):
            raise BadTable(f"line {line}: {len(row)} cells, {len(header)} expected")
    places = [header.index(name) for name in names]
    rows = [[_reading(row[place], line) for place in places] for line, row in cells]
    return Series(tuple(names), rows, _steps(header, [row for _, row in cells]))


def _reading(cell: str, line: int) -> Reading:
    if not cell.strip():
        return None
    try:
        return float(cell)
    except ValueError:
        raise BadTable(f"line {line}: {cell!r} is no number") from None


def _steps(header: list[str], rows: list[list[str]]) -> tuple[int, ...]:
    """Give the step numbers where there are such, and they grow."""
    place = next((at for at, name in enumerate(header) if name.strip().lower() == "step"), None)
    if place is None:
        return ()
    try:
        steps = [float(row[place]) for row in rows]
    except ValueError:
        return ()
    whole = all(math.isfinite(step) and step.is_integer() and step >= 0 for step in steps)
    grows = all(later > earlier for earlier, later in itertools.pairwise(steps))
    return tuple(int(step) for step in steps) if whole and grows else ()


def _meaning(name: str | None) -> Signal | None:
    if name is None:
        return None
    signal = signal_named(name)
    if signal.part == "unknown":
        say(f"there is no signal {name} in docs/reference.md: the columns are taken as of unknown meaning")
        return None
    return signal


def _object(found: dict[str, Said], scores: bool) -> Plain:
    return {
        name: {"alarms": said.alarms, "scores": said.scores} if scores else {"alarms": said.alarms}
        for name, said in found.items()
    }


def _tell(found: dict[str, Said]) -> None:
    rows = [
        (
            name,
            str(one["detector"]),
            str(one["index"]),
            str(one["onset"]),
            _number(one["before"]),
            _number(one["after"]),
            f"{one['score']:.1f}",
        )
        for name, said in found.items()
        for one in said.alarms
    ]
    say(f"{len(found)} series, {len(rows)} alarms")
    if rows:
        show("", ("series", "detector", "raised in row", "since row", "before", "after", "score"), rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
