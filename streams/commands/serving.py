"""`trainmaster run` and `trainmaster agent`: what keeps running."""

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from playbooks.load import BadPlaybook
from streams.agents.http_link import HttpLink
from streams.agents.link import Link
from streams.agents.node import run_agent
from streams.commands.output import fail, say
from streams.feed.gate import OpenToEveryone
from streams.ports.real_ports import BadPorts
from streams.serve import Service
from streams.settings import BadSettings, Settings, load_settings

Config = Annotated[
    Path | None, typer.Option("--config", help="TOML file; without it trainmaster.toml, if there is one.")
]


def log_to_stderr() -> None:
    """Log what we say, and of what the clients of Kafka say only what is wrong."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for noisy in ("faust", "mode", "aiokafka", "kafka"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def settings_or_fail(config: Path | None, **given: object) -> Settings:
    """Read the settings; what cannot be used ends the command with one line."""
    try:
        return load_settings(config, {name: value for name, value in given.items() if value is not None})
    except BadSettings as fault:
        fail(str(fault))


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


def agent(
    directory: Annotated[Path, typer.Option("--dir", help="Folder that the trainers' hooks write to.")],
    node: Annotated[str, typer.Option(help="Name of this node.")],
    url: Annotated[str, typer.Option(help="Address of the server.")] = "http://127.0.0.1:8420",
    spool: Annotated[Path, typer.Option(help="Folder for records while the server is away.")] = Path(
        ".trainmaster/spool"
    ),
    every: Annotated[float, typer.Option(help="Seconds from one sample of the host to the next.")] = 5.0,
    kafka: Annotated[bool, typer.Option("--kafka", help="Speak to Kafka itself instead of a server.")] = False,
    config: Config = None,
) -> None:
    """The node agent: the trainers' steps to the pipeline, the pipeline's wishes to the trainers."""
    log_to_stderr()
    settings = settings_or_fail(config)
    try:
        asyncio.run(run_agent(directory, node, _link(settings, url, kafka, node), spool, every))
    except BadSettings as fault:
        fail(str(fault))
    except KeyboardInterrupt:
        say("stopped")


def _link(settings: Settings, url: str, kafka: bool, node: str) -> Link:
    if kafka:
        from streams.kafka.kafka_link import KafkaLink

        return KafkaLink(settings.kafka, f"trainmaster-agent-{node}")
    return HttpLink(url, settings.token.get_secret_value() if settings.token is not None else None)
