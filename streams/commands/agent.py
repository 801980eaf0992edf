"""`trainmaster agent`: what runs on every node; it imports nothing of the line, for memory there is the trainers'."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from streams.agents.http_link import HttpLink
from streams.agents.link import Link
from streams.agents.node import NodeAgent, Rhythm
from streams.agents.node_sources import node_sources, node_watchers
from streams.commands.configured import Config, log_to_stderr, settings_or_fail
from streams.commands.output import fail, say
from streams.settings import BadSettings, FollowedLog, Settings


def agent(
    directory: Annotated[Path, typer.Option("--dir", help="Folder that the trainers' hooks write to.")],
    node: Annotated[str, typer.Option(help="Name of this node.")] = "",
    url: Annotated[str, typer.Option(help="Address of the server.")] = "http://127.0.0.1:8420",
    spool: Annotated[Path, typer.Option(help="Folder for records while the server is away.")] = Path(
        ".trainmaster/spool"
    ),
    every: Annotated[float | None, typer.Option(help="Seconds from one sample of the node to the next.")] = None,
    kafka: Annotated[bool, typer.Option("--kafka", help="Speak to Kafka itself instead of a server.")] = False,
    scrape: Annotated[list[str] | None, typer.Option(help="An exporter's page; may be given again.")] = None,
    log: Annotated[list[str] | None, typer.Option(help="A log to follow, or a pattern; may be given again.")] = None,
    job: Annotated[str, typer.Option(help="The job of those logs, where no hook runs on this node.")] = "",
    attempt: Annotated[int, typer.Option(min=0, help="The start number of that job.")] = 1,
    config: Config = None,
) -> None:
    """The node agent: the trainers' steps to the pipeline, the pipeline's wishes to the trainers."""
    log_to_stderr()
    settings, name = settings_or_fail(config), node or os.uname().nodename
    rhythm = Rhythm(sample_every=every or settings.agent.every)
    try:
        link = _link(settings, url, kafka, name)
        logs = [FollowedLog(path=path, job=job, attempt=attempt) for path in log or ()]
        pages = [*settings.agent.scrape, *(scrape or ())]
        sources = node_sources(settings.agent.model_copy(update={"scrape": pages}))
        watchers = node_watchers(settings.agent, logs, spool, sources.get("gpu"))
        made = NodeAgent(directory, name, link, spool, rhythm=rhythm, sources=sources, watchers=watchers)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_until_stopped(made))
    except (BadSettings, OSError, ValueError) as fault:
        fail(str(fault))
    except KeyboardInterrupt:
        say("stopped")


async def _until_stopped(agent: NodeAgent) -> None:
    """Run an agent; asked to terminate it hands on what it has, and the rest goes to the spool."""
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, agent.stop)
    await agent.run()


def _link(settings: Settings, url: str, kafka: bool, node: str) -> Link:
    if kafka:
        from streams.kafka.kafka_link import KafkaLink

        return KafkaLink(settings.kafka, f"trainmaster-agent-{node}")
    return HttpLink(url, settings.token.get_secret_value() if settings.token is not None else None)
