"""`trainmaster evidence`: an incident computed again from the telemetry it was made of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from playbooks.load import BadPlaybook
from schemas.incident import Incident
from streams.commands.client import DEFAULT_URL, Client, part
from streams.commands.configured import Config, settings_or_fail
from streams.commands.output import fail, give, say, show
from streams.evidence import Verification, recompute
from streams.evidence import verify as held_against
from streams.install import build_line
from streams.replay import lines_of
from streams.settings import BadSettings, Settings
from streams.stores.database import Database
from streams.stores.journal import SqliteJournal

app = typer.Typer(no_args_is_help=True, help="Evidence that can be computed again.")
Url = Annotated[str, typer.Option("--url", help="Address of the server.")]
PAGE = 5_000


@app.callback()
def evidence() -> None:
    """Keep `verify` a command of its own."""


@app.command("verify")
def verify(
    incident: str,
    telemetry: Annotated[str, typer.Option(help="JSONL, also .gz; without it, the journal on this machine.")] = "",
    url: Url = DEFAULT_URL,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    config: Config = None,
) -> None:
    """Compute an incident again and compare it claim by claim; exit code 1 where one does not hold."""
    settings = settings_or_fail(config)
    told = msgspec.convert(Client(url).get(f"/incidents/{part(incident)}"), Incident)
    outcome = _computed(settings, telemetry, told)
    if as_json:
        give({"incident": told.id, "holds": outcome.holds, **msgspec.to_builtins(outcome)})
    else:
        show("", ("", "claim", "detail"), [(one.standing, one.text, one.detail) for one in outcome.claims])
    for one in outcome.because:
        say(one)
    if not outcome.found:
        fail(f"{told.id}: the telemetry at hand does not lead to this incident; how far back does it reach?")
    if not outcome.holds:
        fail(f"{told.id}: not every claim of revision {told.revision} came out the same")
    source = f"the first {outcome.records} records of {told.basis.key}" if told.basis is not None else "telemetry"
    say(f"{told.id}, revision {told.revision}: {len(outcome.claims)} claims came out the same, from {source}")


def _computed(settings: Settings, telemetry: str, told: Incident) -> Verification:
    try:
        lines = lines_of(telemetry) if telemetry else _journal(settings.database)
        return held_against(told, recompute(build_line(settings), lines, told.id))
    except (BadSettings, BadPlaybook) as fault:
        fail(str(fault))
    except (OSError, EOFError) as fault:
        fail(f"{telemetry or settings.database}: {getattr(fault, 'strerror', None) or fault}")


def _journal(path: Path) -> Iterator[bytes]:
    if not path.is_file():
        raise FileNotFoundError(2, "no journal here; --telemetry names a file")
    database = Database(path)
    try:
        journal, offset = SqliteJournal(database), 0
        while entries := journal.read(offset, PAGE):
            yield from (entry.raw for entry in entries)
            offset = entries[-1].offset
    finally:
        database.close()
