"""What a trainer's hook writes, from the reader's side: where its files are and what a line says.

DIR/JOB/control.json                         what the trainer shall do differently, written by the agent
DIR/JOB/attempt-N/rank-0007.jsonl            the lines of one rank; `.1` and `.2` are the older ones
"""

import json
import os
import re
import stat
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from schemas.telemetry import LATEST_TIME, Reading

_ATTEMPT = re.compile(r"attempt-(\d{1,9})")
_RANK = re.compile(r"rank-(\d{1,9})\.jsonl(?:\.(\d))?")


class Source(Struct, frozen=True, order=True):
    """Who wrote a file: one rank of one attempt."""

    job: str
    attempt: int
    rank: int


class RankFile(Struct, frozen=True):
    """One file of a rank.

    Attributes:
        age: 0 for the one being written, higher for older ones.
        inode: what it is known by while it is renamed; 0 where it was renamed while the folder was listed.
        size: bytes.
        changed: Unix seconds of the last write.
    """

    source: Source
    path: Path
    age: int
    inode: int
    size: int
    changed: float


class Line(Struct):
    """One line; which fields it has says what it is.

    Attributes:
        n: counts all records of the hook, those too that it could not write.
        t: Unix seconds.
        s: step; with `v` and `j` a finished step.
        v: values of this rank, or readings of the thing `of`, `id`.
        j: values of the job.
        e: event, with its subject `u`, data `d` and text `x`.
        of: kind of the thing that was sampled.
        id: its name.
        ack: request that was applied at step `s`, or was not: `error`.
        setting: the setting of that request.
        error: why it was not applied.
        hook: Unix seconds of the hook's start, in the first line of a file; `n` is then the number of the next line.
        local: rank within the node.
        cpus: CPUs the process may use.
        lost: records before this line that could not be written.
    """

    n: int
    t: float = 0.0
    s: int = -1
    v: dict[str, Reading] = field(default_factory=dict)
    j: dict[str, Reading] = field(default_factory=dict)
    e: str = ""
    u: str = ""
    d: dict[str, Any] = field(default_factory=dict)  # Any: each event has its own fields
    x: str = ""
    of: str = ""
    id: str = ""
    ack: str = ""
    setting: str = ""
    error: str = ""
    hook: float = 0.0
    local: int = 0
    cpus: list[int] = field(default_factory=list)
    lost: int = 0


_LAST_STEP = 1 << 53
_decoder = msgspec.json.Decoder(Line)


def job_folder(directory: Path, job: str) -> Path:
    """Say where the files of a job are; the hook names the folder in the same way.

    >>> job_folder(Path("/run/trainmaster"), "team/wm-64").name
    'team%2Fwm-64'
    """
    name = urllib.parse.quote(job, safe="")
    return directory / ("%2E" + name[1:] if name.startswith(".") else name)


def find(directory: Path) -> list[RankFile]:
    """List the files of all ranks, those of one rank oldest first."""
    found = [
        file
        for job in _folders(directory)
        for attempt in _folders(job)
        if (number := _ATTEMPT.fullmatch(attempt.name))
        for file in _rank_files(attempt, urllib.parse.unquote(job.name), int(number[1]))
    ]
    return sorted(found, key=lambda file: (file.source, -file.age))


def _folders(folder: Path) -> list[Path]:
    return [folder / entry.name for entry in _entries(folder) if entry.is_dir()]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # gone, or not there yet
        return []


def _rank_files(folder: Path, job: str, attempt: int) -> Iterator[RankFile]:
    for entry in _entries(folder):
        if name := _RANK.fullmatch(entry.name):
            source, age = Source(job, attempt, int(name[1])), int(name[2] or 0)
            try:
                state = os.stat(entry.path)
            except OSError:
                yield RankFile(source, folder / entry.name, age, 0, 0, 0.0)
            else:
                if not stat.S_ISREG(state.st_mode):
                    continue  # a folder or a pipe of that name: no hook made it, and a pipe is waited for
                yield RankFile(source, folder / entry.name, age, state.st_ino, state.st_size, state.st_mtime)


def parse(raw: bytes) -> Line | None:
    """Read one line; None where it is none, or no record could be made of it.

    A reading that is not finite is a bare NaN or Infinity here, which only the slower reader takes.

    >>> parse(b'{"n":3,"t":1.5,"s":7,"v":{},"j":{"loss":NaN}}').j
    {'loss': nan}
    >>> parse(b'{"n":3,"t":1.5,"s"') is None
    True
    """
    try:
        line: Line | None = _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        line = _second_reading(raw)
    if line is None or not 0 <= line.t < LATEST_TIME or line.s > _LAST_STEP or not _is_shallow(line.d):
        return None
    return line


def _second_reading(raw: bytes) -> Line | None:
    try:
        return msgspec.convert(_whole_text(json.loads(raw)), Line)
    except (ValueError, msgspec.ValidationError, RecursionError):
        return None


def _is_shallow(value: object, levels: int = 20) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return True
    return levels > 0 and all(_is_shallow(inner, levels - 1) for inner in value)


def _whole_text(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    """Replace halves of surrogate pairs, which a trainer may write and no record can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole_text(key): _whole_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole_text(inner) for inner in value]
    return value
