"""The trainer's hook: this one file, standard library only, Python 3.8 or newer; copy it into a training environment.

    hook = Hook("/run/trainmaster", job="wm-64", rank=0)
    with hook.step(step) as s:
        with s.loading(): batch = next(loader)
        s.log(loss=train(batch), tokens=1048576)
    if hook.checkpoint_due(step, every=200):
        with hook.checkpoint(step): save()

Training only puts numbers into a ring. A thread appends them, as lines (streams/agents/rank_file.py), to
`DIR/JOB/attempt-N/rank-0007.jsonl`: five times a second, and at once what is an event or not finite. It also looks at
`DIR/JOB/control.json`. Nothing is raised into training, no network is used, and what could not be written is counted.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import itertools
import json
import os
import threading
import time
import urllib.parse
import weakref
from collections import deque
from typing import Any, Callable  # noqa: UP035 - Python 3.8

_LINE_LIMIT, _CONFIG_LIMIT, _REOPEN_SECONDS, _RING, _BATCH = 1 << 16, 1 << 14, 5.0, 8192, 1 << 17
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

    def __init__(self, name: str, step: _Step) -> None:
        self._name, self._step, self._begin = name, step, 0.0

    def __enter__(self) -> None:
        self._begin = _seconds()

    def __exit__(self, *_: object) -> None:
        spent, values = _seconds() - self._begin, self._step.values
        values[self._name] = values[self._name] + spent if self._name in values else spent


class _Step:
    """The step being trained: `values` of this rank, `job_values` of the job. One object serves all steps."""

    def __init__(self, hook: Hook) -> None:
        self._hook, self._begin, self.number, self._parts = hook, 0.0, -1, {"": _Part("unnamed_seconds", self)}
        self.values: dict[str, Any] = {}  # Any: whatever the trainer notes; made numbers when written
        self.job_values: dict[str, Any] = {}  # Any: the same
        self.loading = functools.partial(self.part, "loader_seconds")  # waiting for the next batch
        self.computing = functools.partial(self.part, "compute_seconds")  # this rank's own forward and backward
        self.waiting = functools.partial(self.part, "wait_seconds")  # in collectives
        self.optimizing = functools.partial(self.part, "optimizer_seconds")

    def part(self, name: object) -> _Part:
        """Measure a part of the step under the name of its signal, `h2d_seconds`; several times adds up."""
        known = name if isinstance(name, str) else ""
        return self._parts.get(known) or self._parts.setdefault(known, _Part(known, self))

    def log(self, **values: object) -> None:
        """Note values of the job, on one rank alone; a GPU tensor would be waited for, so pass numbers."""
        self.job_values.update(values)

    def __enter__(self) -> _Step:
        self.values, self.job_values = {}, {}
        if self._hook._orders or self._hook._idle:
            self._hook._obey(self.number)
        self._begin = _seconds()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.values["step_seconds"] = _seconds() - self._begin
        if kind is None:
            self._hook._take(self.number, self.values, self.job_values)


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
        write_seconds: from one write to the next; what a kill may cost, but for events and numbers that are not finite.
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
        write_seconds: float = 0.2,
    ) -> None:
        self.failed = self.attempt = self.world_size = self.local_rank = self._size = 0
        self.rank = self._file = self._version = self._granted = -1
        self._torn, self._owed, self._asked, self._path, self._control_path = False, False, False, "", ""
        self._seen = self._written = self._next = 0  # numbers that the thread has met, lines on disk, the number after
        self._on_change, self._started, self.limit_bytes, self._pause = on_change, _now(), 16 << 20, write_seconds
        self._shut_until, self._control_mark, self._numbers = 0.0, (0, 0), itertools.count()
        self._settings: dict[str, Any] = {}  # Any: a setting is text, a number or a flag
        self._answered: dict[str, str] = {}
        self._begin_anew()
        HOOKS.add(self)
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
        """Tell why the attempt ends (rank 0 alone): finished, failed, stopped, requeued, evicted, time_limit."""
        if self.rank == 0:
            self.event("attempt.ended", reason=reason, exit_code=exit_code)
        self.flush()

    def event(self, name: str, subject: str = "", text: str = "", **data: Any) -> None:  # noqa: ANN401 - its fields
        """Say that something happened; the words and their fields stand in the table of events."""
        self._tell(e=name, u=subject, x=text, d=data)

    def sample(self, of: str, entity: str, **values: object) -> None:
        """Give readings of a thing: `hook.sample("mount", "/data", storage_retries_total=3)`; None is no reading."""
        self._tell(of=of, id=entity, v=self._plain(values))

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

    @property
    def dropped(self) -> int:
        """How many records are lost, as far as the thread has come."""
        return self._seen - self._written

    def flush(self) -> None:
        """Write what is there and look at the control file; gives up after a second behind a thread that is stuck."""
        lock = self._lock  # the child of a fork has another one
        if lock.acquire(timeout=1.0):
            try:
                self._look()
                self._drain()
            except Exception:
                self.failed += 1
            finally:
                lock.release()

    __del__ = flush

    def _begin_anew(self) -> None:
        """Have an empty ring and no thread: what the child of a fork inherits is its parent's to write."""
        self._ring: deque[tuple[int, float, Any]] = deque(maxlen=_RING)  # Any: a text, or a step and its values
        self._orders: deque[dict[str, tuple[Any, str]]] = deque()  # Any: a setting is text, a number or a flag
        self._lock, self._wake, self._idle = threading.Lock(), threading.Event(), True

    def _start(self) -> None:
        """Start the thread, after a first look for a control file."""
        self._look()
        try:
            threading.Thread(target=_serve, args=(weakref.ref(self), self._wake, self._pause), daemon=True).start()
            self._idle = False
        except Exception:  # no thread can be started any more
            self.failed += 1
            self.flush()

    def _put(self, record: Any, urgent: bool) -> None:  # noqa: ANN401 - a text, or a step and its values
        self._ring.append((next(self._numbers), _now(), record))
        if self._idle:
            self._start()
        if urgent:
            self._wake.set()

    def _take(self, step: Any, values: dict[str, Any], job_values: dict[str, Any]) -> None:  # noqa: ANN401
        """Take a step; a value that is no plain number is read now, for the trainer may change it."""
        for group in (values, job_values):
            for value in group.values():
                if (type(value) is not float and type(value) is not int) or value - value:
                    plain = self._plain(values), self._plain(job_values)
                    odd = any(number is not None and number - number for each in plain for number in each.values())
                    self._put((step, *plain), urgent=odd)
                    return
        self._ring.append((next(self._numbers), _now(), (step, values, job_values)))

    def _tell(self, **fields: Any) -> None:  # noqa: ANN401 - whatever the trainer notes
        try:
            text = _encode(fields)[1:]
        except Exception:
            self.failed, text = self.failed + 1, "x" * _LINE_LIMIT  # which is lost for its length
        self._put(text[:_LINE_LIMIT], urgent="of" not in fields)

    def _plain(self, values: dict[str, Any]) -> dict[str, float | None]:  # Any: whatever the trainer notes
        numbers: dict[str, float | None] = {}
        for name, value in values.items():
            try:
                numbers[name] = None if value is None else float(value)
            except Exception:
                self.failed += 1
        return numbers

    def _drain(self) -> None:
        while self._ring:
            batch: list[tuple[int, bytes]] = []
            room, number, expected = min(_BATCH, self.limit_bytes - self._size), 0, self._next
            while self._ring and (room >= 0 or not batch):
                number, moment, record = self._ring.popleft()
                line = self._line({"n": number, "t": round(moment, 6), "lost": number - expected}, record)
                if line:
                    batch.append((number, line))
                    room, expected = room - len(line), number + 1
            if batch:
                self._write(batch)
            self._seen = number + 1

    def _line(self, said: dict[str, Any], record: Any) -> bytes:  # noqa: ANN401 - a text, or a step and its values
        try:
            if said["lost"] <= 0:
                del said["lost"]
            if isinstance(record, str):
                line = f"{_encode(said)[:-1]},{record}\n".encode()
            else:
                values = {k: round(v, 6) if v and k[-8:] == "_seconds" else v for k, v in record[1].items()}
                line = (_encode({**said, "s": record[0], "v": values, "j": record[2]}) + "\n").encode()
        except Exception:
            self.failed, line = self.failed + 1, b""
        return line if len(line) <= _LINE_LIMIT else b""

    def _write(self, batch: list[tuple[int, bytes]]) -> None:
        try:
            if self._file < 0 or self._size > self.limit_bytes:
                self._open(batch[0][0])
            whole = self._append(b"".join([line for _, line in batch]))
        except Exception:
            return
        if whole:
            self._written, self._next = self._written + whole, batch[whole - 1][0] + 1

    def _append(self, data: bytes) -> int:
        """Give the number of lines that the disk took whole."""
        data = b"\n" * self._torn + data
        written = os.write(self._file, data)
        whole = data[:written].count(b"\n") - (self._torn and written > 0)
        self._size, self._torn = self._size + written, data[:written][-1:] != b"\n"
        return whole

    def _open(self, number: int) -> None:
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
        head = _encode({"hook": self._started, "n": number, "local": self.local_rank, "cpus": cpus})
        self._append(head.encode() + b"\n")

    def _look(self) -> None:
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
                self._orders.append(wishes)
        except OSError:
            return  # there is no control file
        except Exception as fault:
            self.failed += 1
            text = _encode({"e": "log.line", "x": f"control file: {fault!r}"[:500], "d": {"level": "warning"}})
            self._ring.append((next(self._numbers), _now(), text[1:]))

    def _obey(self, step: int) -> None:
        if self._idle:
            self._start()
        while self._orders:
            self._apply(step, self._orders.popleft())

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
                self._tell(ack=request, setting=name, s=step, error=self._change(name, value))

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


def _serve(to: weakref.ref[Hook], wake: threading.Event, seconds: float) -> None:
    while True:
        wake.wait(seconds)
        wake.clear()
        hook = to()
        if hook is None:
            return
        hook.flush()
        del hook  # or it would live as long as this thread


HOOKS: weakref.WeakSet[Hook] = weakref.WeakSet()


@atexit.register
def _flush_all() -> None:
    for hook in list(HOOKS):
        hook.flush()


def _begin_all_anew() -> None:
    for hook in list(HOOKS):
        hook._begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all_anew)
