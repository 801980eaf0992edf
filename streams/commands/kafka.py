"""`trainmaster topics` and `worker`: the same line on Kafka."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from playbooks.load import BadPlaybook
from schemas.topics import TOPICS, Topic
from streams.commands.configured import Config, log_to_stderr, settings_or_fail
from streams.commands.output import fail, give, say, show
from streams.feed.gate import OpenToEveryone
from streams.kafka.connection import NoKafka
from streams.kafka.topic_admin import Standing, apply, compare, faults_of
from streams.ports.real_ports import BadPorts
from streams.runtimes.act_process import ActProcess
from streams.runtimes.api_process import ApiProcess
from streams.settings import BadSettings, Settings
from streams.stores.redis_client import NoRedis

topics = typer.Typer(no_args_is_help=True, help="The streams.")


@topics.command("show")
def show_topics(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    broker: Annotated[bool, typer.Option("--broker", help="Compare with the broker.")] = False,
    config: Config = None,
) -> None:
    """The table of topics, and how they stand on the broker."""
    rows = [topic for topic in TOPICS if topic.key]
    standings = _standings(settings_or_fail(config)) if broker else []
    if as_json:
        give([_plain(topic, standings[at] if broker else None) for at, topic in enumerate(rows)])
        return
    columns = ("topic", "key", "partitions", "kept", "what", *(("on the broker",) if broker else ()))
    show("", columns, [_row(topic, standings[at] if broker else None) for at, topic in enumerate(rows)])


@topics.command("apply")
def apply_topics(config: Config = None) -> None:
    """Make the topics that are missing on the broker; those that are there stay as they are."""
    try:
        standings = apply(settings_or_fail(config).kafka)
    except (NoKafka, BadSettings) as fault:
        fail(str(fault))
    faults = faults_of(standings)
    if faults:
        fail(faults)
    say(f"{len(standings)} topics stand as the table says")


def worker(
    config: Config = None,
    health: Annotated[
        int | None, typer.Option(help="Port of /livez, /readyz and /metrics; 0 takes a free one.")
    ] = None,
    state: Annotated[Path | None, typer.Option(help="Folder for files of this worker.")] = None,
) -> None:
    """One worker: takes its share of the partitions through the line; start one per core."""
    settings = _begin(config, health=health, state=state)
    try:
        from streams.runtimes.worker_process import WorkerProcess

        process = WorkerProcess(settings)
    except (NoKafka, NoRedis, BadSettings, BadPlaybook) as fault:
        fail(str(fault))
    process.run()


def act(
    config: Config = None,
    health: Annotated[int | None, typer.Option(help="Port of the health pages; 0 takes a free one.")] = None,
    state: Annotated[Path | None, typer.Option(help="Folder of this runner's copy and of post-mortems.")] = None,
) -> None:
    """One runner of actions: takes requests from Kafka; several may run side by side."""
    settings = _begin(config, health=health, state=state)
    try:
        asyncio.run(ActProcess(settings).run(lambda address: say(f"health at {address}")))
    except (NoKafka, NoRedis, BadSettings, BadPorts, OSError) as fault:
        fail(str(fault))


def api(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; other than loopback needs a token.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    state: Annotated[Path | None, typer.Option(help="Folder of this server's copy.")] = None,
) -> None:
    """One server of ingest, feed and page over Kafka; several may run side by side."""
    settings = _begin(config, host=host, port=port, state=state)
    try:
        asyncio.run(ApiProcess(settings).run(lambda address: say(f"Trainmaster listens at {address}")))
    except (NoKafka, NoRedis, BadSettings, BadPlaybook, OpenToEveryone, OSError) as fault:
        fail(str(fault))


def _begin(config: Path | None, **given: object) -> Settings:
    log_to_stderr()
    return settings_or_fail(config, **given)


def _standings(settings: Settings) -> list[Standing]:
    try:
        return compare(settings.kafka)
    except (NoKafka, BadSettings) as fault:
        fail(str(fault))


def _plain(topic: Topic, standing: Standing | None) -> dict[str, str | int]:
    plain: dict[str, str | int] = {
        name: getattr(topic, name) for name in ("name", "key", "partitions", "retention_hours", "meaning")
    }
    if standing is not None:
        plain |= {"on_broker": standing.name, "found": standing.found, "fault": standing.fault}
    return plain


def _row(topic: Topic, standing: Standing | None) -> tuple[str, ...]:
    kept = f"{topic.retention_hours} h" if topic.retention_hours else "for ever"
    partitions = topic.partitions if standing is None else standing.wanted
    row = (topic.name, topic.key, str(partitions), "last of each key" if topic.compacted else kept, topic.meaning)
    return row if standing is None else (*row, standing.fault or "as it should be")
