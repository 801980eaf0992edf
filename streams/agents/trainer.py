"""The trainer's hook: this one file, standard library only, Python 3.8 or newer; copy it into a training environment.

    hook = Hook("/run/trainmaster", job="wm-64", rank=0)
    with hook.step(step) as s:
        with s.loading(): batch = next(loader)
        s.log(loss=train(batch), tokens=1048576)
    if hook.checkpoint_due(step, every=200):
        with hook.checkpoint(step): save()

It appends lines (their fields: streams/agents/rank_file.py) to `DIR/JOB/attempt-N/rank-0007.jsonl` and looks at
`DIR/JOB/control.json` once a step. It never raises into training, uses no network, and counts what it could not write.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
import time
import urllib.parse
from typing import Any, Callable  # noqa: UP035 - Python 3.8

_LINE_LIMIT, _CONFIG_LIMIT, _REOPEN_SECONDS = 1 << 16, 1 << 14, 5.0
_VARIABLES = {
    "job": "TRAINMASTER_JOB SLURM_JOB_ID JOB_NAME TORCHELASTIC_RUN_ID",
    "rank": "RANK SLURM_PROCID OMPI_COMM_WORLD_RANK JOB_COMPLETION_INDEX",
    "world_size": "WORLD_SIZE SLURM_NTASKS OMPI_COMM_WORLD_SIZE",
    "local_rank": "LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK",
    "attempt": "TRAINMASTER_ATTEMPT",
    "directory": "TRAINMASTER_DIR",
}
_seconds, _now = time.perf_counter, time.time  # noqa: TID251 - where this is copied to there is no streams.clock
_encode = json.JSONEncoder(separators=(",", ":"), default=lambda v: v.item() if hasattr(v, "item") else str(v)).encode


class _Part:
    """A stretch of a step; its seconds are added to one value of the step."""

    def __init__(self, name: str, values: dict[str, Any]) -> None:  # Any: whatever the trainer notes
        self._name, self._values, self._begin = name, values, 0.0

    def __enter__(self) -> None:
        self._begin = _seconds()

    def __exit__(self, *_: object) -> None:
        self._values[self._name] = round(self._values.get(self._name, 0.0) + _seconds() - self._begin, 6)


class _Step:
    """The step being trained: `values` of this rank, `job_values` of the job. One object serves all steps."""

    def __init__(self, hook: Hook) -> None:
        self._hook, self._begin, self.number = hook, 0.0, -1
        self.values: dict[str, Any] = {}  # Any: whatever the trainer notes; made numbers when written
        self.job_values: dict[str, Any] = {}  # Any: the same

    def part(self, name: object) -> _Part:
        """Measure a part of the step under the name of its signal, `h2d_seconds`; several times adds up."""
        return _Part(name if isinstance(name, str) else "unnamed_seconds", self.values)

    loading = functools.partialmethod(part, "loader_seconds")  # waiting for the next batch
    computing = functools.partialmethod(part, "compute_seconds")  # this rank's own forward and backward
    waiting = functools.partialmethod(part, "wait_seconds")  # in collectives
    optimizing = functools.partialmethod(part, "optimizer_seconds")

    def log(self, **values: object) -> None:
        """Note values of the job, on one rank alone; a GPU tensor would be waited for, so pass numbers."""
        self.job_values.update(values)

    def __enter__(self) -> _Step:
        self.values, self.job_values = {}, {}
        self._hook._poll_control(self.number)
        self._begin = _seconds()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.values["step_seconds"] = round(_seconds() - self._begin, 6)
        if kind is None:
            self._hook._write(s=self.number, v=self.values, j=self.job_values)


class _Save:
    """A checkpoint being written; set `size_bytes` where known. In mode `async` call `done` when it is complete."""

    def __init__(self, report: Callable[..., None], step: int, mode: str) -> None:
        self._report, self._step, self.mode, self.size_bytes, self._begin, self._pause = report, step, mode, 0, 0.0, 0.0

    def __enter__(self) -> _Save:
        self._begin = _seconds()
        self._report("checkpoint.begin", step=self._step, mode=self.mode)
        return self

    def __exit__(self, kind: object, fault: object, *_: object) -> None:
        self._pause = round(_seconds() - self._begin, 6)
        if kind is not None:
            self._report("checkpoint.failed", step=self._step, mode=self.mode, error=type(fault).__name__)
        elif self.mode != "async":
            self.done()

    def done(self) -> None:
        """Say that the save is complete; once, from any thread."""
        spent = {"seconds": round(_seconds() - self._begin, 6), "pause_seconds": self._pause}
        self._report("checkpoint.end", step=self._step, mode=self.mode, bytes=self.size_bytes, **spent)


class Hook:
    """What a trainer holds, one per process; anything it cannot use or write is counted in `failed` and `dropped`.

    Args:
        directory: a folder on the node, never on a network.
        attempt: start number of the run, from 1; without that and a rank nothing is written.
        on_change: called with name and value (None: the trainer's own way again) when a setting changes; what it
            raises becomes the error of the acknowledgement, and the setting stays as it was.
    """

    def __init__(
        self,
        directory: str = "/run/trainmaster",
        job: str = "job",
        rank: int | str = 0,
        attempt: int | str = 1,
        world_size: int | str = 1,
        local_rank: int | str = 0,
        on_change: Callable[[str, Any], object] = lambda *_: None,  # Any: a setting is text, a number or a flag
    ) -> None:
        self.dropped = self.failed = self.attempt = self.world_size = self.local_rank = 0
        self._count, self._lost, self._size, self._shut_until, self._control_mark = 0, 0, 0, 0.0, (0, 0)
        self.rank = self._file = self._version = self._granted = -1
        self._torn, self._owed, self._asked, self._path, self._control_path = False, False, False, "", ""
        self._lock, self._on_change, self._started, self.limit_bytes = threading.Lock(), on_change, _now(), 16 << 20
        self._settings: dict[str, Any] = {}  # Any: a setting is text, a number or a flag
        self._answered: dict[str, str] = {}
        self._step = _Step(self)
        try:
            self.rank, self.attempt = int(rank), int(attempt)
            self.world_size, self.local_rank = int(world_size), int(local_rank)
            name = urllib.parse.quote(job, safe="")
            folder = os.path.join(directory, "%2E" + name[1:] if name.startswith(".") else name)
            self._control_path = os.path.join(folder, "control.json")
            if job and self.rank >= 0 and self.attempt > 0:
                self._path = os.path.join(folder, f"attempt-{self.attempt}", f"rank-{self.rank:04d}.jsonl")
        except Exception:
            self.failed += 1

    @classmethod
    def from_environment(cls, **explicit: Any) -> Hook:  # noqa: ANN401 - what __init__ takes
        """Read TRAINMASTER_*, torchrun's, Slurm's, MPI's, Kubernetes'; what is passed wins. Requeue: 1000 attempts."""
        env = os.environ.get
        said = {name: [v for v in map(env, names.split()) if v and v != "none"] for name, names in _VARIABLES.items()}
        counts = [env("TORCHELASTIC_RESTART_COUNT", "0"), env("SLURM_RESTART_COUNT", "0")]
        said["attempt"] += [str(1 + int(counts[0]) + 1000 * int(counts[1]))] if all(map(str.isdecimal, counts)) else []
        return cls(**{**{name: values[0] for name, values in said.items() if values}, **explicit})

    def step(self, step: int) -> _Step:
        """Begin a step, in a `with`; it is written when it ends well."""
        self._step.number = step
        return self._step

    def setting(self, name: object, default: Any = None) -> Any:  # noqa: ANN401 - text, a number or a flag
        """Say what the control file wants, or the default."""
        return self._settings.get(name, default) if isinstance(name, str) else default

    def start(self, config: object = None, fingerprint: str = "", **data: Any) -> None:  # noqa: ANN401
        """Say that the attempt starts (rank 0 alone); data: resume_step, total_steps, placement, reason."""
        try:
            text = json.dumps(config, sort_keys=True, default=str)
            data["fingerprint"] = fingerprint or hashlib.sha256(text.encode()).hexdigest()[:16]
            data["config"] = json.loads(text) if len(text) <= _CONFIG_LIMIT else {}
        except Exception:
            self.failed += 1
        if self.rank == 0:
            self.event("attempt.started", world_size=self.world_size, **data)

    def end(self, reason: str = "finished", exit_code: int = 0) -> None:
        """Say that the attempt ends (rank 0 alone): finished, failed, stopped, requeued, evicted, time_limit."""
        if self.rank == 0:
            self.event("attempt.ended", reason=reason, exit_code=exit_code)

    def event(self, name: str, subject: str = "", text: str = "", **data: Any) -> None:  # noqa: ANN401 - its fields
        """Say that something happened; the words and their fields stand in the table of events."""
        self._write(e=name, u=subject, x=text, d=data)

    def sample(self, of: str, entity: str, **values: object) -> None:
        """Give readings of a thing: `hook.sample("mount", "/data", storage_retries_total=3)`; None is no reading."""
        self._write(of=of, id=entity, v=values)

    def checkpoint(self, step: int, reporting: int = 0) -> _Save:
        """Measure a save; the rank `reporting` tells of it."""
        mode = str(self._settings.get("checkpoint.mode", "sync"))
        return _Save(self.event if self.rank == reporting else lambda *_, **__: None, step, mode)

    def checkpoint_due(self, step: int, every: int) -> bool:
        """Tell whether to save after this step; where ranks save together let rank 0 ask, and broadcast the answer."""
        try:
            if step != self._granted:
                self._owed = self._owed or (every > 0 and step > 0 and step % every == 0)
                if self._asked or (self._owed and step >= self._settings.get("checkpoint.defer_until_step", 0)):
                    self._granted, self._owed, self._asked = step, False, False
            return bool(step == self._granted)
        except Exception:
            self.failed += 1
            return False

    def _poll_control(self, step: int) -> None:
        try:
            seen = os.stat(self._control_path)
            if (seen.st_mtime_ns, seen.st_ino) == self._control_mark:
                return
            self._control_mark = (seen.st_mtime_ns, seen.st_ino)
            with open(self._control_path, "rb") as file:
                control = json.loads(file.read(_LINE_LIMIT))
            wishes = {name: (wish["value"], str(wish["request"])) for name, wish in control["settings"].items()}
            if control["attempt"] == self.attempt and control["version"] > self._version:
                self._version = control["version"]
                self._apply(step, wishes)
        except OSError:
            return  # there is no control file
        except Exception as fault:
            self.failed += 1
            self.event("log.line", text=f"control file: {fault!r}"[:500], level="warning")

    def _apply(self, step: int, wishes: dict[str, tuple[Any, str]]) -> None:  # Any: text, a number or a flag
        for name in set(self._answered).difference(wishes):
            del self._answered[name]
            self._settings.pop(name, None)
            try:
                self._on_change(name, None)
            except Exception:
                self.failed += 1
        for name, (value, request) in wishes.items():
            if self._answered.get(name) != request:
                self._answered[name] = request
                self._write(ack=request, setting=name, s=step, error=self._change(name, value))

    def _change(self, name: str, value: Any) -> str:  # noqa: ANN401 - text, a number or a flag
        wanted = {"checkpoint.mode": str, "checkpoint.defer_until_step": int}.get(name, (str, int, float))
        try:
            if not isinstance(value, wanted) or (name == "checkpoint.mode" and value not in ("sync", "async")):
                return f"{value!r} is no {name}"
            self._on_change(name, value)
        except Exception as fault:
            return repr(fault)[:500]
        self._settings[name] = value
        self._asked = self._asked or name == "checkpoint.now"
        return ""

    def _write(self, **fields: Any) -> None:  # noqa: ANN401 - whatever the trainer notes
        locked = self._lock.acquire(timeout=1.0)  # a fork may have copied a lock that nobody gives back
        try:
            for group in {"v", "j"}.intersection(fields):
                fields[group] = self._numbers(fields[group])
            fields.update({"lost": self._lost} if self._lost else {})
            self._append(_encode({"n": self._count, "t": round(_now(), 6), **fields}))
            self._lost = 0
        except Exception:
            self.dropped, self._lost = self.dropped + 1, self._lost + 1
        finally:
            self._count += 1
            if locked:
                self._lock.release()

    def _numbers(self, values: dict[str, Any]) -> dict[str, float | None]:  # Any: whatever the trainer notes
        numbers: dict[str, float | None] = {}
        for name, value in values.items():
            try:
                numbers[name] = None if value is None else float(value)
            except Exception:
                self.failed += 1
        return numbers

    def _append(self, line: str) -> None:
        if self._file < 0 or self._size > self.limit_bytes:
            self._open()
        data = (("\n" if self._torn else "") + line + "\n").encode()
        if len(data) > _LINE_LIMIT:
            raise ValueError("the record is too long")
        written = os.write(self._file, data)
        self._size, self._torn = self._size + written, written < len(data)
        if self._torn:
            raise OSError("the disk took only a part")

    def _open(self) -> None:
        if _seconds() < self._shut_until:
            raise OSError("it failed a moment ago")
        self._shut_until = _seconds() + _REOPEN_SECONDS
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._size > self.limit_bytes:
            for newer, older in ((".1", ".2"), ("", ".1")):
                if os.path.exists(self._path + newer):
                    os.replace(self._path + newer, self._path + older)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._size, self._shut_until = os.fstat(self._file).st_size, 0.0
        self._torn = self._size > 0 and os.pread(self._file, 1, self._size - 1) != b"\n"
        cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._append(_encode({"hook": self._started, "n": self._count, "local": self.local_rank, "cpus": cpus}))
