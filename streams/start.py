"""The way into `trainmaster`: what runs on nodes starts at once and stays small, for it imports its own part alone."""

import sys
from importlib import import_module

import typer

ON_NODES = {
    "agent": "streams.commands.agent",
    "event": "streams.commands.telling",
    "preflight": "streams.commands.preflight",
}
"""Command -> the module that has a function of this name."""


def main() -> None:
    """Run the command."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ON_NODES:
        small(name)()
    else:
        import_module("streams.cli").main()


def small(name: str) -> typer.Typer:
    """Put one command together as `streams.cli` does with all."""
    app = typer.Typer(name="trainmaster", pretty_exceptions_enable=False)
    app.callback()(_all_the_rest_is_elsewhere)
    app.command(name)(getattr(import_module(ON_NODES[name]), name))
    return app


def _all_the_rest_is_elsewhere() -> None:
    """Keep the command's name on the line, which an application of one command would do without."""
