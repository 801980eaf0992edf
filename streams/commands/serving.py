"""`trainmaster run`: one process that keeps running."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from playbooks.load import BadPlaybook
from streams.commands.configured import Config, log_to_stderr, settings_or_fail
from streams.commands.output import fail, say
from streams.feed.gate import OpenToEveryone
from streams.ports.real_ports import BadPorts
from streams.serve import Service
from streams.settings import BadSettings, Settings


def service_or_fail(settings: Settings) -> Service:
    """Put the service together; what cannot be used ends the command with one line."""
    try:
        return Service(settings)
    except (BadSettings, BadPlaybook, BadPorts, OpenToEveryone) as fault:
        fail(str(fault))


def run(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; other than loopback needs a token.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    state: Annotated[Path | None, typer.Option(help="Folder of the database and the post-mortems.")] = None,
) -> None:
    """One process: HTTP ingest, detection, playbooks, feed and page over one SQLite file."""
    log_to_stderr()
    service = service_or_fail(settings_or_fail(config, host=host, port=port, state=state))
    try:
        asyncio.run(service.run(lambda address: say(f"Trainmaster listens at {address}")))
    except KeyboardInterrupt:
        say("stopped")
    except OSError as fault:
        fail(str(fault))
