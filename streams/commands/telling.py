"""`trainmaster event`: tell the pipeline that something happened, from a script, a prolog or by hand."""

import json
import os
from typing import Annotated

import typer

from schemas.codec import Plain, to_wire
from schemas.events import BY_NAME
from schemas.ids import derived_id
from schemas.telemetry import Event
from streams.clock import unix_seconds
from streams.commands.client import DEFAULT_URL, Client
from streams.commands.output import fail, say


def event(
    name: Annotated[str, typer.Argument(help="A word of the table of events, such as node.cordoned.")],
    data: Annotated[list[str] | None, typer.Argument(help="Fields as name=value; a value may be JSON.")] = None,
    job: Annotated[str, typer.Option(help="The job; without one, the event is the cluster's.")] = "default",
    attempt: Annotated[int | None, typer.Option(min=0, help="Its start number; 1 with a job.")] = None,
    node: Annotated[str, typer.Option(help="Who tells it; this node.")] = "",
    subject: Annotated[str, typer.Option(help="What it happened to: a GPU, a node, a mount.")] = "",
    text: Annotated[str, typer.Option(help="A line for people.")] = "",
    time: Annotated[float | None, typer.Option(help="Unix seconds; now.")] = None,
    url: Annotated[str, typer.Option("--url", help="Address of the server.")] = DEFAULT_URL,
) -> None:
    """Tell the pipeline that something happened; ends with 0 when it is safely in the journal."""
    if name not in BY_NAME:
        say(f"note: {name} is not in the table of events; it is kept, and no detector knows it")
    now = unix_seconds()
    try:
        record = Event(
            job=job,
            attempt=attempt if attempt is not None else int(job != "default"),
            node=node or os.uname().nodename,
            seq=0,
            boot=derived_id("command", now, os.getpid()),
            time=now if time is None else time,
            event=name,
            subject=subject,
            data=_fields(data or []),
            text=text,
        )
    except ValueError as fault:
        fail(str(fault))
    answer = Client(url).post("/telemetry", to_wire(record))
    say(f"{answer['accepted']} accepted")


def _fields(pairs: list[str]) -> dict[str, Plain]:
    """Read fields.

    >>> _fields(["code=79", "pci=0000:3b:00", "healthy=false"])
    {'code': 79, 'pci': '0000:3b:00', 'healthy': False}
    """
    fields: dict[str, Plain] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            fail(f"{pair}: name=value is expected")
        try:
            fields[name] = json.loads(value)
        except ValueError:
            fields[name] = value
    return fields
