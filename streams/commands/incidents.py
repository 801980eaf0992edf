"""`trainmaster incidents`: list, show, acknowledge and close, on a running server."""

from typing import Annotated

import typer

from schemas.codec import Plain
from schemas.wording import step_words
from streams.commands.client import DEFAULT_URL, Client, part
from streams.commands.output import give, say, show

app = typer.Typer(no_args_is_help=True, help="Incidents of a running server.")
Url = Annotated[str, typer.Option("--url", help="Address of the server.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
By = Annotated[str, typer.Option("--by", help="Your name, for the record.")]


@app.command("list")
def list_incidents(
    state: Annotated[str, typer.Option(help="Only those in this state.")] = "",
    job: Annotated[str, typer.Option(help="Only those of this job.")] = "",
    limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """The latest incidents, newest change first."""
    page = Client(url).get("/incidents", state=state, job=job, limit=limit)
    if as_json:
        give(page)
        return
    rows = [
        (one["id"], one["job"], one["state"], one["severity"], one["title"], step_words(one["onset_step"]))
        for one in page["items"]
    ]
    show("", ("id", "job", "state", "severity", "what", "since"), rows)


@app.command("show")
def show_incident(incident: str, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """One incident with its evidence, what was ruled out, and what was done."""
    one = Client(url).get(f"/incidents/{part(incident)}")
    if as_json:
        give(one)
        return
    belief = f"{one['state']}, {one['severity']}, {one['confidence']:.0%}"
    say(f"{one['title']} ({belief}) since {step_words(one['onset_step'])}")
    show("Evidence", ("", "status", "what"), [_evidence(row) for row in one["evidence"]])
    ruled_out = [(row["cause"], row["because"]) for row in one["ruled_out"]]
    show("Ruled out", ("cause", "because"), ruled_out)
    show(
        "Actions", ("action", "decision", "outcome", "verification", "detail"), [_action(row) for row in one["actions"]]
    )


@app.command("ack")
def acknowledge(incident: str, by: By, url: Url = DEFAULT_URL) -> None:
    """Take an incident."""
    Client(url).post(f"/incidents/{part(incident)}/acknowledge", {"by": by})
    say(f"{incident} is yours, {by}")


@app.command("close")
def close(
    incident: str,
    by: By,
    cause: Annotated[str, typer.Option(help="The confirmed cause, a name from the catalogue.")] = "",
    legitimate: Annotated[bool, typer.Option(help="It was a planned change and no fault.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Close an incident; a person has the last word on its cause."""
    Client(url).post(f"/incidents/{part(incident)}/close", {"by": by, "cause": cause, "legitimate": legitimate})
    say(f"{incident} is closed")


def _evidence(row: Plain) -> tuple[str, str, str]:
    return "+" if row["for"] else "−", row["status"], row["text"]


def _action(row: Plain) -> tuple[str, ...]:
    return row["action"], f"{row['decision']} ({row['reason']})", row["outcome"], row["verification"], row["detail"]
