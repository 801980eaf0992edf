"""`trainmaster taints`, `postmortem`, `schemas` and `killswitch`: what is kept, and what it looks like."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

import schemas as schema_package
from playbooks.actions.postmortem import postmortem as write_postmortem
from schemas.action import TaintRecord
from schemas.codec import encode
from schemas.incident import Incident
from schemas.json_schemas import files
from streams.commands.client import DEFAULT_URL, Client, part
from streams.commands.output import fail, give, give_lines, say, show
from streams.taints import row_of, skipped_iterations

FOLDER = Path(schema_package.__file__ or "").parent / "json"
Url = Annotated[str, typer.Option("--url", help="Address of the server.")]
taints = typer.Typer(no_args_is_help=True, help="The ledger of contaminated steps.")


class Format(StrEnum):
    """Forms of the ledger."""

    jsonl = "jsonl"
    megatron = "megatron"


@taints.command("list")
def list_ranges(job: Annotated[str, typer.Option(help="Only this job.")] = "", url: Url = DEFAULT_URL) -> None:
    """The ledger for people: which steps, why, and what came of them."""
    records = msgspec.convert(Client(url).get("/taints", job=job)["items"], list[TaintRecord])
    columns = ("job", "attempt", "steps", "why", "belief", "checkpoints", "samples", "shards", "incident")
    show("", columns, [row_of(record) for record in records])


@taints.command()
def export(
    form: Annotated[Format, typer.Option("--format", help="jsonl, or Megatron's --iterations-to-skip.")] = Format.jsonl,
    job: Annotated[str, typer.Option(help="Only this job.")] = "",
    url: Url = DEFAULT_URL,
) -> None:
    """Print the ledger for evaluations and trainers."""
    records = msgspec.convert(Client(url).get("/taints", job=job)["items"], list[TaintRecord])
    if form is Format.jsonl:
        give_lines([encode(record).decode() for record in records])
    else:
        give_lines([" ".join(map(str, skipped_iterations(records)))])


def postmortem(incident: str, url: Url = DEFAULT_URL) -> None:
    """Print the post-mortem of an incident as Markdown."""
    client = Client(url)
    revisions = msgspec.convert(client.get(f"/incidents/{part(incident)}/revisions")["items"], list[Incident])
    typer.echo(write_postmortem(revisions, []))


def schemas(
    write: Annotated[bool, typer.Option("--write", help="Write schemas/json/.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Compare schemas/json/ with the records.")] = False,
) -> None:
    """The JSON Schemas of the topics: name, write or check them."""
    wanted = {FOLDER / name: text for name, text in files().items()}
    stale = [path.name for path, text in wanted.items() if not path.is_file() or path.read_bytes() != text]
    if check and stale:
        fail(f"schemas/json/ is not what the records say: {', '.join(stale)}; run `make schemas`")
    if write:
        for path, text in wanted.items():
            path.write_bytes(text)
    if check or write:
        say(f"{len(wanted)} schemas are up to date")
        return
    give_lines([str(path) for path in wanted])


def killswitch(
    on: Annotated[bool | None, typer.Option("--on/--off", help="Turn it; without it, tell how it stands.")] = None,
    by: Annotated[str, typer.Option(help="Your name, for the record.")] = "",
    url: Url = DEFAULT_URL,
) -> None:
    """Stop every action at once, or let them go on; detection and pages are not touched."""
    client = Client(url)
    if on is None:
        give(client.get("/killswitch"))
        return
    if not by:
        fail("--by: your name is needed, for the record")
    give(client.post("/killswitch", {"on": on, "by": by}))
