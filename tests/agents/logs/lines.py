"""All lines: those of the formats' description and further ones of other versions, forks, kernels and launchers."""

import json

from tests.agents.logs.lines_of_collectives import COLLECTIVES
from tests.agents.logs.lines_of_machines import MACHINES
from tests.agents.logs.lines_of_trainers import TRAINERS
from tests.agents.logs.table import TABLE, Says

LINES: dict[str, tuple[str, Says]] = {**TABLE, **TRAINERS, **MACHINES, **COLLECTIVES}


def in_docker(text: str) -> str:
    """Write a log as Docker keeps it."""
    lines = (
        {"log": f"{line}\n", "stream": "stderr", "time": "2026-03-04T10:00:00.1Z"}
        for line in text.strip("\n").split("\n")
    )
    return "\n".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in lines)


def behind(prefix: str, text: str) -> str:
    """Put a prefix before every line of a log."""
    return "\n".join(f"{prefix}{line}" for line in text.strip("\n").split("\n"))
