"""`trainmaster preflight`: the questions before a run, answered on its node, as findings, an event and an exit code."""

import hashlib
import json
import os
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from msgspec import to_builtins

from schemas.codec import to_wire
from schemas.ids import derived_id
from schemas.telemetry import Event
from streams.agents.finding import Finding
from streams.agents.gpu import Gpus
from streams.agents.nvml import DriverAway
from streams.agents.whole_file import write_whole
from streams.clock import unix_seconds
from streams.commands.client import Client
from streams.commands.output import fail, give, say, show
from streams.readiness.checks import Check, configuration, gpus, path, placement, versions

_BETWEEN_LOOKS = 0.2


def preflight(
    job: Annotated[str, typer.Option(help="The job.")],
    attempt: Annotated[int, typer.Option(min=0, help="Its start number.")] = 1,
    config: Annotated[Path | None, typer.Option(help="The run's configuration: JSON, YAML or TOML.")] = None,
    state: Annotated[Path, typer.Option(help="Where the last attempt's configuration is kept.")] = Path(".trainmaster"),
    write: Annotated[
        list[Path] | None, typer.Option(help="A folder that must be writable; may be given again.")
    ] = None,
    space: Annotated[float, typer.Option(min=0, help="Bytes that must be free in each of them.")] = 1e9,
    gpu_count: Annotated[int, typer.Option("--gpus", min=0, help="GPUs that must answer; 0: as many as do.")] = 0,
    url: Annotated[str, typer.Option(help='Address of the server that shall know; "" tells nobody.')] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Check GPUs, versions, folders, space, placement and configuration; ends with 1 where the run should not start."""
    checks = list(_checks(job, config, state, write or [], int(space), gpu_count))
    failed = [check for check in checks if check.level == "failed"]
    data = {"passed": not failed, "findings": to_builtins(checks)}
    if as_json:
        give(data)
    else:
        show(f"Preflight of {job}", ("check", "", "answer"), [(one.check, one.level, one.text) for one in checks])
    if url:
        _tell(url, job, attempt, data, failed)
    if failed:
        say(f"{len(failed)} checks failed")
        raise typer.Exit(1)


def _checks(
    job: str, config: Path | None, state: Path, folders: list[Path], space: int, gpu_count: int
) -> Iterator[Check]:
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
    if config is not None:
        yield _configuration(job, config, state)


def _look_at_gpus() -> tuple[list[Finding], str, str]:
    source = Gpus()
    try:
        source()
        time.sleep(_BETWEEN_LOOKS)
        return list(source()), source.driver, ""
    except DriverAway as away:
        return [], "", str(away)


def _configuration(job: str, config: Path, state: Path) -> Check:
    """Compare with the attempt before, and keep this one for the next."""
    now = _read(config)
    kept = state / f"config-{hashlib.sha256(job.encode()).hexdigest()[:16]}.json"
    try:
        before = json.loads(kept.read_bytes())
    except (OSError, ValueError):
        before = None
    text = json.dumps(now, sort_keys=True, default=str)
    check = configuration(before if isinstance(before, dict) else None, json.loads(text))
    try:
        write_whole(kept, text.encode())
    except OSError as fault:
        fail(str(fault))
    return check


def _read(config: Path) -> dict[str, Any]:  # Any: what the run is configured with
    try:
        text = config.read_text(encoding="utf-8")
        read = tomllib.loads(text) if config.suffix == ".toml" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as fault:
        fail(f"{config}: {fault}")
    if not isinstance(read, dict):
        fail(f"{config}: fields with values are expected")
    return read


def _tell(url: str, job: str, attempt: int, data: dict[str, Any], failed: list[Check]) -> None:  # Any: as in an event
    now = unix_seconds()
    event = Event(
        job=job,
        attempt=attempt,
        node=os.uname().nodename,
        boot=derived_id("preflight", now, os.getpid()),
        seq=0,
        time=now,
        event="preflight",
        data=data,
        text="; ".join(check.text for check in failed) or "all checks passed",
    )
    Client(url).post("/telemetry", to_wire(event))
