"""`trainmaster costs`, `priors` and `incidents explain`: what incidents came to, and what people said of them."""

from typing import Annotated

import msgspec
import typer

from playbooks.explain import explain as words_of
from playbooks.load import BadPlaybook, load_causes
from playbooks.priors import proposals
from schemas.incident import Incident
from streams.commands.client import DEFAULT_URL, Client, part
from streams.commands.output import fail, give, give_lines, say, show
from streams.costs import METHOD, By
from streams.costs import costs as added_up

Url = Annotated[str, typer.Option("--url", help="Address of the server.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PAGE = 500


def explain(incident: str, url: Url = DEFAULT_URL) -> None:
    """One incident in words: what, since when, why, why not the others, what is being done."""
    one = msgspec.convert(Client(url).get(f"/incidents/{part(incident)}"), Incident)
    try:
        cause = next((cause for cause in load_causes() if cause.cause == one.cause), None)
    except BadPlaybook as fault:
        fail(str(fault))
    give_lines(words_of(one, cause.title if cause else "", cause.look_at if cause else ()))


def costs(
    by: Annotated[str, typer.Option(help="incident, cause, layer, job or node.")] = "cause",
    job: Annotated[str, typer.Option(help="Only incidents of this job.")] = "",
    since: Annotated[float, typer.Option(help="Only incidents that changed since this Unix second.")] = 0.0,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """GPU-hours lost, added up."""
    try:
        over = msgspec.convert(by, By)
    except msgspec.ValidationError:
        fail(f"--by: incident, cause, layer, job or node is expected, not {by}")
    rows = added_up(_incidents(Client(url), job=job, since=since), over)
    if as_json:
        give({"by": by, "method": METHOD, "rows": [msgspec.to_builtins(row) for row in rows]})
        return
    show(
        "",
        (by, "incidents", "GPU hours lost", "share"),
        [(row.name, str(row.incidents), f"{row.gpu_hours:.2f}", f"{row.share:.0%}") for row in rows],
    )
    say(f"Method: {METHOD}.")


def priors(
    without: Annotated[list[str] | None, typer.Option(help="Leave out the verdict on this incident.")] = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Priors that the verdicts of people speak for, as lines for the settings; nothing is changed."""
    given = [one for one in _incidents(Client(url), state="closed") if one.acknowledged_by]
    closed = [one for one in given if one.id not in (without or ())]
    lines = []
    for one in proposals(closed):
        lines += [f"# {verdict}" for verdict in one.verdicts]
        lines.append(f"{one.cause} = {one.nats}  # confirmed {one.confirmed}, overruled {one.overruled}")
    give_lines(["[priors]", *lines] if lines else [])
    say(f"{len(closed)} incidents were closed by people; what you paste into the settings counts from the next start")


def _incidents(client: Client, **query: object) -> list[Incident]:
    found: list[Incident] = []
    cursor: object = ""
    while cursor is not None:
        page = client.get("/incidents", limit=PAGE, cursor=cursor, **query)
        found += msgspec.convert(page["items"], list[Incident])
        cursor = page["next_cursor"]
    return found
