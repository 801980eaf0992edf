"""What commands that have settings share: the option for them, and how faults and logs are told."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from streams.commands.output import fail
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
