"""`trainmaster playbooks`: check them, explain one, and try them on a recorded file."""

from pathlib import Path
from typing import Annotated

import typer

from playbooks.load import CAUSES, LIBRARY, BadPlaybook, load_causes
from playbooks.playbook import Limit, Playbook
from schemas.codec import to_wire
from streams.commands.configured import Config, settings_or_fail
from streams.commands.output import fail, give, say, show
from streams.commands.replaying import run_or_fail
from streams.install import checked_playbooks
from streams.replay import summary

app = typer.Typer(no_args_is_help=True, help="Playbooks: what is done about an incident.")
Folder = Annotated[Path, typer.Option("--dir", help="Folder with playbooks.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def check(folder: Folder = LIBRARY, causes: Annotated[Path, typer.Option(help="Folder with causes.")] = CAUSES) -> None:
    """Read causes and playbooks strictly; name the file and the field of the first fault."""
    try:
        known = load_causes(causes)
        playbooks = checked_playbooks(folder, known)
    except BadPlaybook as fault:
        fail(str(fault))
    say(f"{len(known)} causes and {len(playbooks)} playbooks are fine")


@app.command()
def explain(name: str, folder: Folder = LIBRARY, as_json: AsJson = False) -> None:
    """Say in words when a playbook applies, what it does, and how success is told."""
    playbooks = checked_playbooks(folder, load_causes())
    playbook = next((one for one in playbooks if one.playbook == name), None)
    if playbook is None:
        fail(f"there is no playbook {name}; there are {', '.join(one.playbook for one in playbooks)}")
    if as_json:
        give(to_wire(playbook))
        return
    for line in words(playbook):
        typer.echo(line)


@app.command("test")
def try_out(file: str, folder: Folder = LIBRARY, as_json: AsJson = False, config: Config = None) -> None:
    """Run a recorded file and list what the playbooks of a folder would have done."""
    data = summary(run_or_fail(settings_or_fail(config), file, folder))
    actions = [{"incident": one["id"], **entry} for one in data["incidents"] for entry in one["actions"]]
    if as_json:
        give(actions)
        return
    rows = [
        (
            one["incident"],
            one["playbook"],
            one["action"],
            one["target"],
            one["decision"],
            one["reason"],
            str(one["step"]),
        )
        for one in actions
    ]
    show("", ("incident", "playbook", "action", "target", "decision", "reason", "step"), rows)


def words(playbook: Playbook) -> list[str]:
    """A playbook in sentences."""
    when = playbook.when
    lines = [f"{playbook.playbook}: {playbook.summary}."]
    lines.append(f"Causes: {', '.join(when.causes) or 'any'}; layers: {', '.join(when.layers) or 'any'}.")
    lines.append(f"At least {when.severity}, while {', '.join(when.states)}; belief at least {when.confidence:.0%}.")
    lines += [f"And {_limit(limit)}." for limit in when.all]
    params = ", ".join(f"{key} = {value}" for key, value in playbook.params.items())
    lines.append(
        f"Does {playbook.action}{f' with {params}' if params else ''} on {playbook.target}; mode {playbook.mode}."
    )
    lines.append(
        f"At most {playbook.budget.actions} times in {playbook.budget.seconds:g} s, "
        f"{playbook.cooldown:g} s apart, on at most {playbook.most_targets} at once."
    )
    verify = playbook.verify
    if verify is None:
        lines.append("Nothing is verified on the job.")
    elif verify.below is not None:
        lines.append(f"It has worked when the next save pauses the job for less than {verify.below:g} s.")
    else:
        lines.append(
            f"It has worked when {verify.signal} is back at {verify.at_least:.0%} of its baseline "
            f"(lower 95 % bound over {verify.steps} steps) within {verify.within_steps} steps."
        )
    if playbook.on_failure:
        lines.append(f"If it has not, {playbook.on_failure} takes it back.")
    return lines


def _limit(limit: Limit) -> str:
    if limit.signal:
        times = f" for {limit.steps} steps in a row" if limit.steps > 1 else ""
        return f"{limit.signal} was over {limit.above:g}{times}"
    return f"the incident's {limit.incident} is over {limit.above:g}"
