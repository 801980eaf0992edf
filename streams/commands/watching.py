"""What a person sees while a demo runs: one live line of the job, and a line for everything that happens."""

import asyncio
from collections.abc import Callable

from rich.live import Live
from rich.text import Text

from schemas.incident import Incident
from schemas.wording import amount, step_words
from streams.commands.output import say, talk
from streams.stores.archive import SqliteArchive
from streams.stores.store import IncidentQuery

SHOWN = ("tokens_per_second", "loader_share", "loss", "step_seconds")
REFRESH_SECONDS = 0.25


class Watch:
    """Follows the archive of a service and tells what is new.

    Args:
        archive: of the service.
    """

    def __init__(self, archive: SqliteArchive) -> None:
        self._archive = archive
        self._told: dict[str, Incident] = {}

    async def run(self, over: Callable[[], bool]) -> None:
        """Show the job until something is over."""
        with Live(console=talk, refresh_per_second=4, transient=True) as live:
            while not over():
                live.update(Text(self._job()))
                self._news(live)
                await asyncio.sleep(REFRESH_SECONDS)
            self._news(live)

    def _job(self) -> str:
        jobs = self._archive.jobs()
        if not jobs:
            return "waiting for the first step"
        points = self._archive.series(jobs[0].job, "step", jobs[0].time - 1.0, jobs[0].time, 1)
        values = points[-1].values if points else {}
        shown = "   ".join(f"{name} {amount(name, values[name])}" for name in SHOWN if values.get(name) is not None)
        return f"{jobs[0].job}   {step_words(jobs[0].step)}   {shown}"

    def _news(self, live: Live) -> None:
        for incident in reversed(self._archive.incidents(IncidentQuery())[0]):
            known = self._told.get(incident.id)
            if known is None or known.revision != incident.revision:
                for line in news(known, incident):
                    live.console.print(line, markup=False, highlight=False)
                self._told[incident.id] = incident


def news(before: Incident | None, now: Incident) -> list[str]:
    """Say what a revision brings that the one told before did not have."""
    lines = []
    if before is None or (before.cause, before.state) != (now.cause, now.state):
        since = f"{now.confidence:.0%}, since {step_words(now.onset_step)}"
        lines.append(f"● incident {now.id} {now.state}, {now.severity}: {now.title} ({since})")
    known = {} if before is None else {(one.action, one.target, one.request): one for one in before.actions}
    for entry in now.actions:
        earlier = known.get((entry.action, entry.target, entry.request))
        if earlier is None:
            lines.append(f"  → {entry.action}: {entry.decision} ({entry.reason}) at {step_words(entry.step)}")
        elif (earlier.outcome, earlier.verification) != (entry.outcome, entry.verification):
            what = entry.verification or entry.outcome
            lines.append(f"  ✓ {entry.action}: {what}" + (f", {entry.detail}" if entry.detail else ""))
    return lines


def tell(incident: Incident) -> None:
    """Tell a whole incident in words."""
    say(f"\n{incident.title}")
    taint = f", contaminated steps {incident.taint.from_step:,} to {incident.taint.to_step:,}" if incident.taint else ""
    say(
        f"  {incident.state}; cause {incident.cause} ({incident.layer}, {incident.confidence:.0%}); since "
        f"{step_words(incident.onset_step)}{taint}; {incident.gpu_hours_lost:.1f} GPU hours lost"
    )
    for one in incident.evidence[1:]:
        sign = "?" if one.status == "unknown" else "+" if one.speaks_for else "−"
        say(f"  {sign} {one.text}")
    say("  ruled out:")
    for out in incident.ruled_out:
        say(f"  × {out.cause}: {out.because}")
    for entry in incident.actions:
        what = entry.verification or entry.outcome or entry.decision
        say(f"  → {entry.action} at {step_words(entry.step)}: {what}" + (f"; {entry.detail}" if entry.detail else ""))
