"""`trainmaster preflight`: the questions before a run, answered on its node, as findings, an event and an exit code."""

import json
import os
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from msgspec import convert, to_builtins

from schemas.action import TaintRecord
from schemas.codec import to_wire
from schemas.ids import derived_id
from schemas.incident import Incident
from schemas.telemetry import Event
from streams.agents.finding import Finding
from streams.agents.gpu import Gpus
from streams.agents.nvml import DriverAway
from streams.clock import unix_seconds
from streams.commands.client import Client
from streams.commands.output import fail, give, say, show
from streams.readiness.before import Before, Kept
from streams.readiness.checks import Check, configuration, gpus, path, placement, versions
from streams.readiness.continuing import ancestry, checkpoint, data_fields, data_state, state_of

_BETWEEN_LOOKS = 0.2
Config = dict[str, Any]  # Any: what a run is configured with


def preflight(
    job: Annotated[str, typer.Option(help="The job.")],
    attempt: Annotated[int, typer.Option(min=0, help="Its start number.")] = 1,
    config: Annotated[Path | None, typer.Option(help="The run's configuration: JSON, YAML or TOML.")] = None,
    state: Annotated[
        Path, typer.Option(help="Where what an attempt had is kept for the next; nodes may share it.")
    ] = Path(".trainmaster"),
    write: Annotated[
        list[Path] | None, typer.Option(help="A folder that must be writable; may be given again.")
    ] = None,
    space: Annotated[float, typer.Option(min=0, help="Bytes that must be free in each of them.")] = 1e9,
    resume: Annotated[
        Path | None, typer.Option(help="The checkpoint it goes on from, or the folder of all of them.")
    ] = None,
    data: Annotated[list[Path] | None, typer.Option(help="A file or folder of its data; may be given again.")] = None,
    node: Annotated[str, typer.Option(help="Name of this node.")] = "",
    gpu_count: Annotated[int, typer.Option("--gpus", min=0, help="GPUs that must answer; 0: as many as do.")] = 0,
    url: Annotated[str, typer.Option(help='Address of the server that shall know; "" tells nobody.')] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Check the node, the configuration, the data and the checkpoint; ends with 1 where the run should not start."""
    now, node = _read(config) if config is not None else None, node or os.uname().nodename
    checks = list(_checks(write or [], int(space), gpu_count))
    configured, fed, seen = (Before(state, job, kind, node, attempt) for kind in ("config", "data", "files"))
    if now is not None:
        checks.append(configuration(configured.read(), now))
    kept = _together(fed.read(), seen.read_own())
    checks += _going_on(kept, job, now or {}, data or [], resume, url)
    failed = [check for check in checks if check.level == "failed"]
    findings = {"passed": not failed, "findings": to_builtins(checks)}
    if as_json:
        give(findings)
    else:
        show(f"Preflight of {job}", ("check", "", "answer"), [(one.check, one.level, one.text) for one in checks])
    if url:
        _tell(url, job, attempt, node, findings, failed)
    if failed:
        say(f"{len(failed)} checks failed")
        raise typer.Exit(1)
    try:  # an attempt that does not start is none to compare with
        if now is not None:
            configured.write(now)
        fed.write({"fields": data_fields(now or {}), "resumed_step": _step(checks)})
        seen.write({"states": state_of(data or [])})
    except OSError as fault:
        fail(str(fault))


def _checks(folders: list[Path], space: int, gpu_count: int) -> Iterator[Check]:
    findings, driver, why = _look_at_gpus()
    if why and gpu_count:
        yield Check("gpus", "failed", why)
    elif why:
        yield Check("gpus", "warning", why)
    else:
        yield from gpus(findings, gpu_count)
    yield versions(driver)
    for folder in folders:
        yield from path(folder, space)
    yield from placement(os.environ, gpu_count)


def _look_at_gpus() -> tuple[list[Finding], str, str]:
    source = Gpus()
    try:
        source()
        time.sleep(_BETWEEN_LOOKS)
        return list(source()), source.driver, ""
    except DriverAway as away:
        return [], "", str(away)


def _together(fed: Kept | None, seen: Kept | None) -> Kept | None:
    """What the run was fed with is known from any node; how the files looked, from this one: data may be local."""
    return None if fed is None and seen is None else {**(fed or {}), **(seen or {})}


def _going_on(
    before: Kept | None, job: str, config: Config, data: list[Path], resume: Path | None, url: str
) -> Iterator[Check]:
    """Judge the data and the checkpoint."""
    yield from data_state(before, data_fields(config), state_of(data))
    if resume is None:
        return
    world = os.environ.get("WORLD_SIZE", "")
    found = list(checkpoint(resume, before, int(world) if world.isdecimal() else 0))
    yield from found
    if url and found[0].level == "ok":
        yield _ancestry(url, job, found[0].data["step"])


def _step(checks: list[Check]) -> int | None:
    return next((one.data.get("step") for one in checks if one.check == "checkpoint"), None)


def _ancestry(url: str, job: str, step: int | None) -> Check:
    """Ask the server; one that does not answer is no reason against a start."""
    client = Client(url)
    try:
        taints = convert(client.get("/taints", job=job)["items"], list[TaintRecord])
        incidents = convert(client.get("/incidents", job=job, limit=500)["items"], list[Incident])
    except typer.Exit:
        return Check("ancestry", "warning", "the server was asked for contaminated steps and gave no answer")
    return ancestry(step, taints, [one for one in incidents if one.state not in ("resolved", "closed")])


def _read(config: Path) -> Config:
    try:
        text = config.read_text(encoding="utf-8")
        read = tomllib.loads(text) if config.suffix == ".toml" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as fault:
        fail(f"{config}: {fault}")
    if not isinstance(read, dict):
        fail(f"{config}: fields with values are expected")
    whole: Config = json.loads(json.dumps(read, sort_keys=True, default=str))
    return whole


def _tell(
    url: str, job: str, attempt: int, node: str, data: dict[str, Any], failed: list[Check]
) -> None:  # Any: as in an event
    now = unix_seconds()
    event = Event(
        job=job,
        attempt=attempt,
        node=node,
        boot=derived_id("preflight", now, os.getpid()),
        seq=0,
        time=now,
        event="preflight",
        data=data,
        text="; ".join(check.text for check in failed) or "all checks passed",
    )
    try:
        Client(url).post("/telemetry", to_wire(event))
    except typer.Exit:
        return  # it was told, and a server that is away is no reason against a start
