"""`trainmaster reference`: the tables of the contract as one page, made from the code and never copied by hand."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from detectors.catalogue import DETECTORS
from playbooks.actions.catalogue import ACTIONS
from playbooks.load import LIBRARY, load_causes
from playbooks.reasons import Reason
from playbooks.sinks.catalogue import SINKS
from schemas.events import EVENTS
from schemas.signals import SIGNALS
from schemas.topics import TOPICS
from streams.commands.output import fail, say
from streams.install import checked_playbooks
from streams.settings import Settings

PAGE = Path("docs/reference.md")


def reference(
    write: Annotated[bool, typer.Option("--write", help="Write docs/reference.md.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Compare docs/reference.md with the code.")] = False,
) -> None:
    """The tables of signals, events, topics, detectors, causes, playbooks, actions, sinks, reasons and settings."""
    text = page()
    if check:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            fail(f"{PAGE} is not what the code says; run `make reference`")
        say(f"{PAGE} is up to date")
    elif write:
        PAGE.write_text(text, encoding="utf-8")
        say(f"{PAGE} written")
    else:
        typer.echo(text)


def page() -> str:
    """The whole page."""
    causes = load_causes()
    playbooks = checked_playbooks(LIBRARY, causes)
    parts = [
        "# Reference\n\nMade from the code by `make reference`; `make check` compares it.",
        _table(
            "Signals",
            ("signal", "unit", "layer", "part", "bad", "worth an alarm", "over the job", "kind", "meaning"),
            (
                (s.name, s.unit, s.layer, s.part, s.bad, _worth(s.worth, s.floor), s.over, s.kind, s.meaning)
                for s in SIGNALS
            ),
        ),
        _table(
            "Events",
            ("event", "meaning", "data", "subject"),
            ((e.name, e.meaning, ", ".join(e.fields), e.subject) for e in EVENTS),
        ),
        _table(
            "Topics",
            ("topic", "key", "partitions", "kept, hours", "what"),
            (
                (t.name, t.key, t.partitions, "last of each key" if t.compacted else t.retention_hours, t.meaning)
                for t in TOPICS
                if t.key
            ),
        ),
        _table(
            "Detectors", ("detector", "what it finds"), ((name, _first(make())) for name, make in DETECTORS.items())
        ),
        _table(
            "Causes",
            ("cause", "layer", "severity", "blames", "what happened"),
            ((c.cause, c.layer, c.severity, c.blames, c.title) for c in causes),
        ),
        _table(
            "Playbooks",
            ("playbook", "action", "mode", "what it does"),
            ((p.playbook, p.action, p.mode, p.summary) for p in playbooks),
        ),
        _table(
            "Actions",
            ("action", "risk", "undone by", "what it does"),
            ((name, a.risk, a.undo or "–", _first(a)) for name, a in ACTIONS.items()),
        ),
        _table("Sinks", ("kind", "what it does"), ((name, _first(kind.make)) for name, kind in SINKS.items())),
        _table("Reasons of decisions", ("reason",), ((reason.value,) for reason in Reason)),
        _settings(),
    ]
    return "\n\n".join(parts) + "\n"


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"## {title}", "", _row(columns), _row(["---"] * len(columns))]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _worth(worth: float, floor: float) -> str:
    absolute = f", at least {floor:g}" if floor else ""
    return f"{worth:.0%}{absolute}"


def _first(thing: object) -> str:
    """The first line of a docstring."""
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _settings() -> str:
    """The settings as their docstring tells them."""
    _, _, attributes = (Settings.__doc__ or "").partition("Attributes:")
    lines = [line.strip() for line in attributes.strip().splitlines() if line.strip()]
    rows = [(f"`{name}`", meaning.strip()) for name, _, meaning in (line.partition(":") for line in lines)]
    return _table("Settings", ("setting", "meaning"), rows)
