"""A benchmark's result: a table for people, and the same as JSON."""

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

RESULTS = Path(__file__).parent / "results"


class Table(Struct, frozen=True):
    """What a benchmark measured.

    Attributes:
        name: of the benchmark and its file.
        what: what was measured, and how, in one sentence.
    """

    name: str
    what: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]


def machine() -> str:
    """Say on what it was measured."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    return f"{os.cpu_count()} cores of {model}, Linux {platform.release()}, Python {platform.python_version()}"


def show(table: Table) -> None:
    """Print a table and write its JSON."""
    print(f"\n{table.name}: {table.what}\n")
    for line in markdown(table):
        print(line)
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({**to_builtins(table), "machine": machine()}, indent=1)
    (RESULTS / f"{table.name}.json").write_text(text + "\n", encoding="utf-8")


def markdown(table: Table) -> list[str]:
    """The rows as a Markdown table."""
    rows: list[Sequence[object]] = [table.columns, ["---"] * len(table.columns), *table.rows]
    return ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]


def _cell(cell: object) -> str:
    return (
        f"{cell:.3g}"
        if isinstance(cell, float) and abs(cell) < 1000
        else f"{cell:,.0f}"
        if isinstance(cell, float)
        else str(cell)
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
