"""How commands speak: data on the standard output, talk on the standard error, exit codes 0, 1 and 2."""

from collections.abc import Sequence
from typing import NoReturn

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from schemas.codec import Plain

talk = Console(stderr=True, highlight=False)


def say(words: str) -> None:
    """Tell a person; a line stays one line, however long it is."""
    talk.print(words, markup=False, soft_wrap=True)


def give(data: Plain) -> None:
    """Print one JSON object for a program."""
    typer.echo(msgspec.json.format(msgspec.json.encode(data), indent=1).decode())


def give_lines(lines: Sequence[str]) -> None:
    """Print lines for a program or a person."""
    for line in lines:
        typer.echo(line)


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for a person."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def fail(words: str) -> NoReturn:
    """Say in one line what went wrong, and end with exit code 1."""
    say(f"trainmaster: {words}")
    raise typer.Exit(1)
