"""`trainmaster replay` and `trainmaster simulate`: recorded and invented telemetry."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from playbooks.load import BadPlaybook, load_causes
from schemas.codec import Plain
from schemas.wording import step_words
from streams.agents.simulated import simulate as simulated_lines
from streams.agents.simulation.scenarios import SCENARIOS
from streams.commands.configured import Config, settings_or_fail
from streams.commands.output import fail, give, give_lines, say, show
from streams.install import build_line, checked_playbooks
from streams.kafka.connection import NoKafka
from streams.kafka.log_producer import log_producer
from streams.kafka.simulated_job import feed
from streams.kafka.topic_admin import require_topics
from streams.replay import Outcome, lines_of, summary
from streams.replay import replay as run_lines
from streams.settings import BadSettings, Settings
from streams.stores.store import StoreAway


def replay(
    file: Annotated[str, typer.Argument(help="JSONL, also .gz; - reads the standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the object of the contract.")] = False,
    what_if: Annotated[
        Path | None, typer.Option(help="Folder with other playbooks: what would they have done?")
    ] = None,
    config: Config = None,
) -> None:
    """Run a recorded file through detection, correlation and decision; nothing is kept and nothing is done."""
    settings = settings_or_fail(config)
    outcome = run_or_fail(settings, file)
    data = summary(outcome)
    if what_if is not None:
        data["what_if"] = _differences(data, summary(run_or_fail(settings, file, what_if)))
    if as_json:
        give(data)
        return
    _tell(data)


def simulate(
    scenario: Annotated[str, typer.Argument(help="Name of the scenario; `list` names them all.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    defects: Annotated[bool, typer.Option(help="Lose, repeat, delay and reorder a little.")] = False,
    kafka: Annotated[bool, typer.Option("--kafka", help="Send it to Kafka instead of printing it.")] = False,
    speed: Annotated[float, typer.Option(min=0, help="With --kafka: times real time; 0 as fast as may be.")] = 0.0,
    per_message: Annotated[int, typer.Option(min=1, help="With --kafka: records in a message.")] = 50,
    config: Config = None,
) -> None:
    """Print the telemetry of a simulated job as JSONL, or feed Kafka with it."""
    if scenario == "list":
        give_lines(sorted(SCENARIOS))
        return
    if scenario not in SCENARIOS:
        fail(f"there is no scenario {scenario}; `trainmaster simulate list` names them")
    lines = simulated_lines(scenario, seed, defects)
    if kafka:
        _feed_kafka(settings_or_fail(config), lines, per_message, speed)
        return
    for line in lines:
        sys.stdout.buffer.write(line)


def run_or_fail(settings: Settings, file: str, playbooks: Path | None = None) -> Outcome:
    """Replay a file with the installed playbooks or those of a folder; a fault ends the command with one line."""
    try:
        causes = load_causes() if settings.causes is None else load_causes(settings.causes)
        policies = checked_playbooks(playbooks, causes) if playbooks is not None else None
        return run_lines(build_line(settings, policies), lines_of(file))
    except (BadSettings, BadPlaybook) as fault:
        fail(str(fault))
    except (OSError, EOFError) as fault:
        fail(f"{file}: {getattr(fault, 'strerror', None) or fault}")


def _feed_kafka(settings: Settings, lines: Iterator[bytes], per_message: int, speed: float) -> None:
    try:
        require_topics(settings.kafka)
        producer = log_producer(settings.kafka, "simulate")
        say(f"{feed(lines, producer, per_message, speed)} records sent")
        producer.close()
    except (NoKafka, BadSettings, StoreAway) as fault:
        fail(str(fault))


def _differences(before: Plain, after: Plain) -> list[Plain]:
    """Actions that only one of two replays would have taken."""
    old, new = _actions(before), _actions(after)
    return [
        {
            "change": change,
            "incident": key[0],
            "playbook": key[1],
            "action": key[2],
            "target": key[3],
            "decision": key[4],
        }
        for change, keys in (("no longer", old - new), ("new", new - old))
        for key in sorted(keys)
    ]


def _actions(data: Plain) -> set[tuple[str, ...]]:
    return {
        (incident["id"], *(str(entry[name]) for name in ("playbook", "action", "target", "decision")))
        for incident in data["incidents"]
        for entry in incident["actions"]
    }


def _tell(data: Plain) -> None:
    say(
        f"{data['records']} records, {data['rejected']} rejected, {data['repeated']} repeated, {data['late']} late; "
        f"{len(data['detections'])} detections, {len(data['incidents'])} incidents"
    )
    for fault in data["faults"][:10]:
        say(f"line {fault['line']}: {fault['reason']} at {fault['path'] or 'the record'}: {fault['detail']}")
    rows = [
        (
            one["id"][:8],
            one["job"],
            one["state"],
            one["severity"],
            one["title"],
            f"{one['confidence']:.0%}",
            step_words(one["onset_step"]),
            f"{one['gpu_hours_lost']:.2f}",
            ", ".join(f"{entry['action']} {entry['decision']} ({entry['reason']})" for entry in one["actions"]),
        )
        for one in data["incidents"]
    ]
    if rows:
        show("", ("id", "job", "state", "severity", "what", "belief", "since", "GPU h lost", "actions"), rows)
    for one in data.get("what_if", []):
        say(f"{one['change']}: {one['playbook']} {one['action']} on {one['target']}: {one['decision']}")
