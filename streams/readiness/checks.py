"""The questions before a run that its node can answer: GPUs, versions, paths, space, placement, configuration."""

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from schemas.telemetry import Reading
from streams.agents.finding import Finding, Happening, Sample
from streams.clock import monotonic_seconds

Level = Literal["ok", "warning", "failed"]
DANGEROUS = (
    "tokenizer", "vocab", "mixture", "data", "dataset", "source", "seed", "shuffle",
    "parallel", "pipeline_", "tensor_", "expert", "context_", "world_size", "zero", "fsdp",
    "lr", "learning_rate", "warmup", "decay", "schedule", "batch", "seq", "accumulation",
    "loss", "objective", "label_smoothing", "optimizer", "betas", "eps", "clip", "dtype", "precision", "fp8", "bf16",
    "fp16", "checkpoint", "resume", "init", "load",
)  # fmt: skip
"""Words in the name of a field whose change breaks a comparison with the attempt before."""
_PACKAGES = ("torch", "triton", "transformers", "deepspeed", "megatron-core", "nvidia-nccl-cu12", "nvidia-cudnn-cu12",
             "flash-attn", "transformer-engine", "apex", "numpy")  # fmt: skip
_SLOW_SECONDS = 2.0
_PROBE_BYTES = 1 << 20


class Check(Struct, frozen=True):
    """The answer to one question.

    Attributes:
        check: what was asked.
        level: ok, warning or failed.
        text: the answer, for a person.
        data: the answer, for a program.
    """

    check: str
    level: Level
    text: str
    data: dict[str, Any] = {}  # Any: each check has its own


def gpus(findings: Sequence[Finding], wanted: int) -> Iterator[Check]:
    """Judge what the GPUs said in two looks.

    Args:
        findings: of the GPU source.
        wanted: how many there should be; 0 where that is not known.
    """
    rows: dict[str, dict[str, Reading]] = {}
    for sample in findings:
        if isinstance(sample, Sample) and sample.of == "gpu":
            for place, uuid_ in enumerate(sample.ids):
                rows[uuid_] = {name: values[place] for name, values in sample.values.items()}
    whole = [name for name in rows if not name.startswith("MIG-")]
    level: Level = "failed" if wanted and len(whole) < wanted else "ok"
    yield Check("gpus", level, f"{len(whole)} GPUs answer" + (f", {wanted} are wanted" if wanted else ""))
    for event in findings:
        if isinstance(event, Happening):
            yield Check("gpu health", "failed", f"{event.subject}: {event.event}: {event.text}", dict(event.data))
    for name, row in rows.items():
        yield from _gpu(name, row)


def _gpu(name: str, row: Mapping[str, Reading]) -> Iterator[Check]:
    limits: tuple[tuple[str, str, Level], ...] = (
        ("remapped_rows_failure", "a memory row could not be remapped: the GPU has to be replaced", "failed"),
        ("remapped_rows_pending", "a memory row waits for a reset", "failed"),
        ("ecc_dbe_volatile_total", "uncorrectable memory errors since the driver started", "failed"),
        ("throttle_hw_thermal", "clocks are held down for heat", "failed"),
        ("throttle_hw_power_brake", "clocks are held down by the power supply", "failed"),
        ("throttle_hw_slowdown", "clocks are held down by the hardware", "warning"),
        ("nvlink_errors_total", "NVLink errors since the driver started", "warning"),
    )
    for signal, meaning, level in limits:
        if (row.get(signal) or 0) > 0:
            yield Check("gpu health", level, f"{name}: {meaning}", {"gpu": name, signal: row[signal]})


def versions(driver: str) -> Check:
    """Tell the versions of what is installed here, so that nodes and attempts can be compared."""
    found = {"driver": driver} if driver else {}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    text = ", ".join(f"{name} {version}" for name, version in found.items())
    return Check("versions", "ok", text or "none of the known packages is installed", {"versions": found})


def path(folder: Path, least_bytes: int) -> Iterator[Check]:
    """Write, sync, read back and remove a file in a folder, and look at the space left."""
    probe = folder / f".trainmaster-{uuid.uuid4().hex}"
    body = os.urandom(_PROBE_BYTES)
    begin = monotonic_seconds()
    try:
        with probe.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        same = probe.read_bytes() == body
    except OSError as fault:
        yield Check("path", "failed", f"{folder}: {fault.strerror or fault}")
        return
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
    seconds = monotonic_seconds() - begin
    level: Level = "failed" if not same else "warning" if seconds > _SLOW_SECONDS else "ok"
    what = "reads other bytes than were written" if not same else f"1 MiB written, synced and read in {seconds:.2f} s"
    yield Check("path", level, f"{folder}: {what}", {"path": str(folder), "seconds": seconds})
    free = shutil.disk_usage(folder).free
    enough: Level = "ok" if free >= least_bytes else "failed"
    yield Check(
        "space", enough, f"{folder}: {free / 1e9:.1f} GB free, {least_bytes / 1e9:.1f} GB wanted", {"free": free}
    )


def placement(environment: Mapping[str, str], gpus_here: int) -> Iterator[Check]:
    """Hold the launcher's numbers against each other and against the GPUs here."""
    numbers = {
        name: int(environment[name])
        for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS")
        if environment.get(name, "").isdecimal()
    }
    if not numbers:
        yield Check("placement", "ok", "no launcher's variables are set here")
        return
    rank, world = numbers.get("RANK", 0), numbers.get("WORLD_SIZE", 1)
    local, here = numbers.get("LOCAL_RANK", 0), numbers.get("LOCAL_WORLD_SIZE", 1)
    faults = []
    if rank >= world:
        faults.append(f"rank {rank} of {world}")
    if world % max(1, here):
        faults.append(f"{world} ranks do not divide into nodes of {here}")
    if gpus_here and max(local + 1, here) > gpus_here:
        faults.append(f"{max(local + 1, here)} local ranks on {gpus_here} GPUs")
    visible = [one for one in environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
    if visible and len(visible) < here:
        faults.append(f"{here} local ranks, and CUDA_VISIBLE_DEVICES shows {len(visible)}")
    text = "; ".join(faults) or f"rank {rank} of {world}, local rank {local} of {here}"
    yield Check("placement", "failed" if faults else "ok", text, {"numbers": numbers})


def configuration(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Check:
    """Hold the configuration against that of the attempt before; the fields that break a comparison are named.

    >>> configuration({"lr": 1, "log": {"level": "a"}}, {"lr": 2, "log": {"level": "b"}}).data["dangerous"]
    ['lr']
    """
    if before is None:
        return Check("configuration", "ok", "there is no attempt before to compare with")
    old, new = dict(flat(before)), dict(flat(now))
    changed = {
        name: [old.get(name), new.get(name)]
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }
    dangerous = [name for name in changed if any(word in name.lower() for word in DANGEROUS)]
    harmless = len(changed) - len(dangerous)
    text = "; ".join(f"{name}: {changed[name][0]} -> {changed[name][1]}" for name in dangerous)
    text = text or ("nothing dangerous" if changed else "the same as before")
    if harmless:
        text += f"; and {harmless} other fields"
    return Check("configuration", "warning" if dangerous else "ok", text, {"changed": changed, "dangerous": dangerous})


def flat(config: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Give the fields of a configuration by their full names: `optimizer.lr`."""
    for name, value in config.items():
        full = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{full}.")
        else:
            yield full, value
