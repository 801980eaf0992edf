"""`trainmaster evidence`: what an incident claims and what it rests on, and the same computed again."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
import typer

from playbooks.load import BadPlaybook
from schemas.incident import Incident
from schemas.origin import Origin
from schemas.telemetry import Inbound
from schemas.wording import count
from streams.claims import Claims, Traced
from streams.commands.client import DEFAULT_URL, Client, part
from streams.commands.configured import Config, settings_or_fail
from streams.commands.output import fail, give, say, show
from streams.evidence import Known, Verification, recompute, recompute_key
from streams.evidence import verify as held_against
from streams.evidence_log import JOURNAL, journal_stretch, kafka_stretch, whole_journal
from streams.install import build_line
from streams.kafka.connection import NoKafka
from streams.replay import lines_of
from streams.settings import BadSettings, Settings

app = typer.Typer(no_args_is_help=True, help="Evidence that can be computed again.")
Url = Annotated[str, typer.Option("--url", help="Address of the server.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
STANDINGS = {
    "same": "holds",
    "differs": "DIFFERS",
    "gone": "DID NOT COME OUT",
    "new": "WAS NOT TOLD",
    "out_of_reach": "out of reach",
}


@app.command("show")
def show_claims(incident: str, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """What an incident claims: status, numbers and limits, what made each claim, and where to compute it from."""
    told = Client(url).get(f"/incidents/{part(incident)}/evidence")
    if as_json:
        give(told)
        return
    claims = msgspec.convert(told, Claims)
    show("", ("", "status", "claim", "made by", "from"), [_row(one) for one in claims.claims])
    say(f"{claims.incident}, revision {claims.revision}: {_where(claims.origin)}")


@app.command("verify")
def verify(
    incident: str,
    telemetry: Annotated[str, typer.Option(help="JSONL, also .gz, instead of the log.")] = "",
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Compute an incident again from exactly the records it rests on; exit code 1 where not every claim holds."""
    settings = settings_or_fail(config)
    client = Client(url)
    claims = msgspec.convert(client.get(f"/incidents/{part(incident)}/evidence"), Claims)
    revisions = msgspec.convert(client.get(f"/incidents/{part(incident)}/revisions")["items"], list[Incident])
    told = next(one for one in revisions if one.revision == claims.revision)
    outcome = _computed(settings, telemetry, told, claims)
    if as_json:
        give({"incident": told.id, "holds": outcome.holds, **msgspec.to_builtins(outcome)})
    else:
        rows = [(STANDINGS[one.standing], one.text, one.detail) for one in outcome.claims]
        show("", ("", "claim", "detail"), rows)
    for one in outcome.because:
        say(one)
    _end(told, outcome, telemetry or _where(claims.origin))


def _end(told: Incident, outcome: Verification, source: str) -> None:
    unreached = outcome.count("out_of_reach")
    counted = f"{outcome.count('same')} of {len(outcome.claims)} claims hold"
    beyond = f", {unreached} could not be computed again: the log no longer reaches back" if unreached else ""
    if not outcome.found and not unreached:
        fail(f"{told.id}: the telemetry at hand does not lead to this incident; how far back does it reach?")
    if not outcome.holds:
        fail(f"{told.id}, revision {told.revision}: {counted}{beyond}")
    taken = f", {count(outcome.records, 'record')} of {told.basis.key}" if told.basis is not None else ""
    say(f"{told.id}, revision {told.revision}: {counted}, from {source}{taken}")


def _computed(settings: Settings, telemetry: str, told: Incident, claims: Claims) -> Verification:
    try:
        line = build_line(settings)
        if telemetry or claims.origin is None or told.basis is None:
            lines = lines_of(telemetry) if telemetry else whole_journal(settings.database)
            return held_against(told, recompute(line, lines, told.id))
        key, origin = told.basis.key, claims.origin
        begins, records = _stretch(settings, key, origin)
        return held_against(told, recompute_key(line, records, key, told.id), Known(claims, begins))
    except (BadSettings, BadPlaybook, NoKafka) as fault:
        fail(str(fault))
    except (OSError, EOFError) as fault:
        fail(f"{telemetry or settings.database}: {getattr(fault, 'strerror', None) or fault}")


def _stretch(settings: Settings, key: str, origin: Origin) -> tuple[int, Iterable[Inbound]]:
    if origin.topic == JOURNAL:
        return journal_stretch(settings.database, key, origin)
    return kafka_stretch(settings.kafka, key, origin)


def _row(one: Traced) -> Sequence[str]:
    claim = one.claim
    made_by = f"{claim.detector} {claim.version}".strip()
    return "+" if claim.speaks_for else "−", claim.status, claim.text, made_by, _where(one.origin)


def _where(origin: Origin | None) -> str:
    if origin is None:
        return "where it comes from was not noted"
    place = origin.topic if origin.topic == JOURNAL else f"{origin.topic}/{origin.partition}"
    return f"{place} {origin.first} to {origin.last}"
