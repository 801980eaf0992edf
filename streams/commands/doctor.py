"""`trainmaster doctor`: what can be seen here, what cannot, and what to switch on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from detectors.catalogue import DETECTORS
from playbooks.load import load_causes
from streams.agents.host import Host
from streams.agents.node_sources import node_sources
from streams.commands.configured import Config, settings_or_fail
from streams.commands.output import fail, give, give_lines, say, show
from streams.readiness.coverage import Given, Sight, given, needs, runs, sight
from streams.readiness.fixes import Fix, fixes
from streams.readiness.probe import of_lines, of_node
from streams.replay import lines_of

DEGRADED = 3
"""Exit code where a cause cannot be seen at all."""


def doctor(
    file: Annotated[Path | None, typer.Argument(help="Recorded telemetry to judge instead of this node.")] = None,
    directory: Annotated[Path | None, typer.Option("--dir", help="Folder that the trainers' hooks write to.")] = None,
    scrape: Annotated[list[str] | None, typer.Option(help="An exporter's page; may be given again.")] = None,
    log: Annotated[list[str] | None, typer.Option(help="A trainer's log, or a pattern; may be given again.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    config: Config = None,
) -> None:
    """What this node or a record gives, which detectors and causes can work with it, and what would bring the rest.

    Ends with 3 where a cause cannot be seen at all.
    """
    try:
        if file is not None:
            probe = of_lines(lines_of(str(file)))
        else:
            settings = settings_or_fail(config).agent
            pages = [*settings.scrape, *(scrape or ())]
            sources = node_sources(settings.model_copy(update={"scrape": pages}), exporter_every=0.5)
            patterns = [*(one.path for one in settings.logs), *(log or ())]
            probe = of_node({"host": Host(), **sources}, directory, logs=patterns)
    except OSError as fault:
        fail(str(fault))
    there, troubles = given(probe.signals, probe.events), probe.troubles
    causes = [sight(cause, there) for cause in load_causes() if cause.cause != "unknown" and cause.clues]
    idle = [name for name in DETECTORS if not runs(name, there)]
    wanted = [name for one in causes for name in one.missing] + [name for each in idle for name in needs(each)]
    todo = list(fixes(wanted))
    if as_json:
        _give(there, causes, idle, troubles, todo)
    else:
        _show(there, causes, idle, troubles, todo)
    if any(not one.opens or one.share == 0 for one in causes):
        raise typer.Exit(DEGRADED)


def _give(there: Given, causes: list[Sight], idle: list[str], troubles: list[str], todo: list[Fix]) -> None:
    give(
        {
            "signals": sorted(there.signals),
            "events": sorted(there.events),
            "detectors": {name: name not in idle for name in DETECTORS},
            "causes": to_builtins(causes),
            "troubles": troubles,
            "fixes": to_builtins(todo),
        }
    )


def _show(there: Given, causes: list[Sight], idle: list[str], troubles: list[str], todo: list[Fix]) -> None:
    give_lines([f"{len(there.signals)} signals and {len(there.events)} kinds of events are there"])
    for trouble in troubles:
        say(f"trouble: {trouble}")
    running = len(DETECTORS) - len(idle)
    give_lines([f"{running} of {len(DETECTORS)} detectors can run" + (f", not: {', '.join(idle)}" if idle else "")])
    rows = [(one.title, _words(one), ", ".join(one.missing[:4])) for one in sorted(causes, key=lambda one: one.share)]
    show("What can be named as a cause", ("cause", "seen", "missing"), rows)
    give_lines(list(_todo(todo)))


def _words(one: Sight) -> str:
    return f"{one.share:.0%}" if one.opens and one.share else "not at all"


def _todo(todo: list[Fix]) -> Iterator[str]:
    for fix in todo:
        yield f"\n# {fix.where}: brings {', '.join(fix.brings)}"
        yield fix.text
