"""The command `trainmaster`."""

import typer

from streams.commands import (
    agent,
    demo,
    detecting,
    doctor,
    evidence,
    incidents,
    kafka,
    policy,
    preflight,
    reading,
    records,
    reference,
    replaying,
    serving,
    telling,
    verdicts,
)

app = typer.Typer(
    name="trainmaster",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Keeps large training runs on time: detect, explain, act, verify.",
)
app.command("demo")(demo.demo)
app.command("run")(serving.run)
app.command("worker")(kafka.worker)
app.command("act")(kafka.act)
app.command("api")(kafka.api)
app.command("agent")(agent.agent)
app.command("replay")(replaying.replay)
app.command("doctor")(doctor.doctor)
app.command("preflight")(preflight.preflight)
app.command("event")(telling.event)
app.command("read-log")(reading.read_log)
app.command("detect")(detecting.detect)
app.command("simulate")(replaying.simulate)
incidents.app.command("explain")(verdicts.explain)
app.add_typer(incidents.app, name="incidents")
app.add_typer(evidence.app, name="evidence")
app.add_typer(policy.app, name="playbooks")
app.add_typer(records.taints, name="taints")
app.add_typer(kafka.topics, name="topics")
app.command("costs")(verdicts.costs)
app.command("priors")(verdicts.priors)
app.command("postmortem")(records.postmortem)
app.command("schemas")(records.schemas)
app.command("reference")(reference.reference)
app.command("killswitch")(records.killswitch)


def main() -> None:
    """Run the command."""
    app()
